import { spawnSync } from 'node:child_process';
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

/**
 * A server of many processes: CPU of all that it has and had; memory as the system shares it out among them (PSS), since
 * each of them would otherwise count the shared buffers again. Zero where there is no /proc.
 */
export function familyUsage(pid) {
  const children = readOr(`/proc/${pid}/task/${pid}/children`, '').split(' ').filter(Boolean);
  const processes = [String(pid), ...children].map((each) => ({
    // Its own, and that of the children it has outlived.
    ticks: statOf(each),
    pssBytes: Number(/^Pss:\s+(\d+) kB/m.exec(readOr(`/proc/${each}/smaps_rollup`, ''))?.[1] ?? 0) * 1024,
  }));
  return {
    cpuS: processes.reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond(),
    peakRssBytes: processes.reduce((sum, { pssBytes }) => sum + pssBytes, 0),
  };
}

/** utime, stime, cutime and cstime; the name before them may have spaces, but ends with the last bracket. */
function statOf(pid) {
  const fields = readOr(`/proc/${pid}/stat`, '').split(')').at(-1).trim().split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

let cachedTicks;
function ticksPerSecond() {
  cachedTicks ??= Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;
  return cachedTicks;
}

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fallback;
  }
}
