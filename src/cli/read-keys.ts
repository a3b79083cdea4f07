import type { Keyboard } from './terminal.ts';

export interface Keys {
  /** The last one, or the one of this number. */
  readonly onReplay: (number: number | 'last') => void;
  readonly onQuit: () => void;
  /** What is typed is not shown by a terminal in raw mode. */
  readonly echo: (text: string) => void;
}

const ENTER = new Set(['\r', '\n']);
/** Ctrl-C and Ctrl-D arrive as keys in raw mode. */
const QUIT = new Set(['q', 'Q', '\u0003', '\u0004']);
const BACKSPACE = new Set(['\b', '\u007f']);
const LONGEST_NUMBER = 9;

/** r, a number and Enter, q. Gives the way to stop, which leaves the terminal as it was. */
export function readKeys(keyboard: Keyboard, { onReplay, onQuit, echo }: Keys): () => void {
  let digits = '';
  const onKey = (key: string) => {
    if (QUIT.has(key)) return onQuit();
    if (key >= '0' && key <= '9' && key.length === 1 && digits.length < LONGEST_NUMBER) {
      digits += key;
      return echo(key);
    }
    if (BACKSPACE.has(key) && digits !== '') {
      digits = digits.slice(0, -1);
      return echo('\b \b');
    }
    const number = digits;
    digits = '';
    if (number !== '') echo('\n');
    if (ENTER.has(key) && number !== '') return onReplay(Number(number));
    if (key === 'r' || key === 'R') onReplay('last');
  };
  const onData = (bytes: Uint8Array) => {
    for (const key of Buffer.from(bytes).toString('latin1')) onKey(key);
  };
  keyboard.setRawMode?.(true);
  keyboard.on('data', onData);
  keyboard.resume();
  return () => {
    keyboard.off('data', onData);
    keyboard.setRawMode?.(false);
    keyboard.pause();
  };
}
