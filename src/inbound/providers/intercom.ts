import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { inboundEvent } from './inbound-event.ts';
import { at, objectBody } from './json-body.ts';

export const intercom = defineProvider({
  name: 'intercom',
  title: 'Intercom',
  doc: 'X-Hub-Signature: HMAC-SHA1 over the body, which is all that Intercom offers',
  settings: {
    clientSecret: { doc: "the app's client secret, under Basic information", required: true, secret: true, list: true },
  },
  // One retry after a minute, longer ones while its own queue is slow; a day is generous.
  dedupeForMs: DAY_MS,
  ...hmacScheme({
    secret: 'clientSecret',
    algorithm: 'sha1',
    encoding: 'hex',
    header: 'x-hub-signature',
    prefix: 'sha1=',
  }),
  eventOf(request) {
    const body = objectBody(request);
    const created = at(body, 'created_at');
    return inboundEvent({
      id: body.id,
      type: body.topic,
      createdAt: typeof created === 'number' ? created * 1000 : undefined,
    });
  },
  samples: {
    'conversation.user.created': ({ token, now }) => ({
      body: {
        type: 'notification_event',
        app_id: 'a86dr8yl',
        id: `notif_${token}`,
        topic: 'conversation.user.created',
        created_at: Math.floor(now / 1000),
        delivery_attempts: 1,
        data: { type: 'notification_event_data', item: { type: 'conversation', id: `conv_${token}`, state: 'open' } },
      },
    }),
  },
});
