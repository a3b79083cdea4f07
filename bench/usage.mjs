import { readFileSync } from 'node:fs';

/** What this process has used so far, all its threads included. */
export function ownUsage() {
  const { user, system } = process.cpuUsage();
  // A forked process inherits its parent's maxRSS across exec: on Linux the kernel's own peak of this image is exact.
  const peakRssBytes = peakRssOf('self') ?? process.resourceUsage().maxRSS * 1024;
  return { cpuS: (user + system) / 1e6, peakRssBytes };
}

/** The highest resident size of a process so far; undefined where there is no /proc. */
export function peakRssOf(pid) {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
