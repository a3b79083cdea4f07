import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { FREE_FORM_SAMPLES, FREE_FORM_SETTINGS, freeFormEvent } from './free-form-event.ts';
import { VERIFIED } from './verdict.ts';

export const none = defineProvider({
  name: 'none',
  title: 'No verification',
  doc: 'Takes everything from everyone: for senders that cannot sign, inside a network that you trust',
  warning: 'Anyone who knows the URL of this source can send it events, and nothing shows that an event was forged.',
  settings: FREE_FORM_SETTINGS,
  // Nobody knows how long this sender retries: as long as the longest that we know of.
  dedupeForMs: 30 * DAY_MS,
  prepare: () => () => VERIFIED,
  sign: (request) => request,
  eventOf: freeFormEvent,
  samples: FREE_FORM_SAMPLES,
});
