/** An event as its provider would send it: a sample, changed where the user says, and signed. */
import { PosthornError } from '../errors.ts';
import { findProvider, type InboundRequest, type Provider, type ProviderSettings } from '../inbound/providers/index.ts';
import { closest } from '../policy/index.ts';
import { secretSetting } from '../resources/index.ts';
import { SECRET_VARIABLE } from './provider-settings.ts';
import { withFields } from './set-field.ts';

export interface EventOrder {
  readonly provider: Provider;
  readonly eventType: string;
  readonly settings: ProviderSettings;
  /** False: sent without a signature, to who asks for none. */
  readonly isSigned: boolean;
  readonly fields: readonly string[];
  readonly url: URL;
}

export function checkOrder(name: string, eventType: string): Provider {
  const provider = findProvider(name);
  if (provider.sampleTypes.includes(eventType)) return provider;
  const near = closest(eventType, provider.sampleTypes);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new PosthornError(
    'validation',
    `There is no sample of ${JSON.stringify(eventType)} for ${provider.name}.${hint} There are ${provider.sampleTypes.join(', ')}`,
  );
}

export interface SigningSettings {
  readonly settings: ProviderSettings;
  /** What there is still to be given, in words: signed without it, a sample would come back as a 401 that blames the secret. */
  readonly missing?: string;
}

/** What signing needs, under its own names. */
export function signingSettings(provider: Provider, given: ProviderSettings): SigningSettings {
  const { secret, ...rest } = given;
  const name = secretSetting(provider, Object.keys(rest));
  const settings = secret === undefined || name === undefined ? rest : { ...rest, [name]: secret };
  // A key that nobody can have comes first: what else is missing does not matter to who cannot sign.
  const needed = Object.entries({ ...provider.signSettings, ...provider.settings });
  for (const [key, { required, doc }] of needed) {
    if (required && !(key in settings)) return { settings, missing: missingText(provider, key, key === name, doc) };
  }
  const choice = Object.keys(provider.settings).filter((key) => provider.settings[key]?.secret);
  const isUnclear = choice.length > 0 && !choice.some((key) => key in settings);
  return isUnclear ? { settings, missing: unclearText(provider, choice) } : { settings };
}

function unclearText(provider: Provider, choice: readonly string[]): string {
  const ways = choice.map((key) => `--setting ${key}=… (${provider.settings[key]?.doc})`);
  return (
    `${provider.title} has several secrets, and neither --secret nor ${SECRET_VARIABLE} says which is meant: ` +
    `give ${ways.join(', or ')}. It is not read from the server`
  );
}

function missingText(provider: Provider, key: string, isSecret: boolean, doc: string): string {
  if (key in provider.signSettings) return keyText(provider, key, doc);
  const way = isSecret ? `give --secret, or set ${SECRET_VARIABLE}` : `give --setting ${key}=…`;
  const isShown = provider.settings[key]?.secret !== true;
  const server = isShown ? 'With POSTHORN_ADMIN_TOKEN a source says it itself' : 'It is not read from the server';
  return `${provider.title} signs with ${key} (${doc}): ${way}. ${server}`;
}

function keyText({ name, title, signSettings }: Provider, key: string, doc: string): string {
  const own = `--setting ${key}=@key.pem (${doc})`;
  const uid = `try-${name}`;
  const open =
    'send it unsigned to a source of the provider none: `posthorn sources create none --uid ' +
    `${uid} --setting eventTypePath=…\` (where its body has the type), then --source ${uid}, with POSTHORN_ADMIN_TOKEN set`;
  return 'certificateUrl' in signSettings
    ? `${title} signs with a private key that nobody else has, and a source of ${name} believes the certificates of ${title} ` +
        `alone: no key of yours passes there. To try handlers, ${open}. With ${own} and --to it is signed for an app that is ` +
        'given your certificate, or that verifies nothing'
    : `${title} signs with a private key that nobody else has. Sign with one of your own, ${own}, where the receiver has ` +
        `its public half; or ${open}`;
}

/** `token` makes the ids in it new. */
export function makeEvent(order: EventOrder, now: number, token: string): InboundRequest {
  const { provider, eventType, settings, isSigned, fields, url } = order;
  const sample = provider.sample(eventType, { now, token, url: url.href });
  const placed = withTypeAndId(sample, settings, { eventType, eventId: `evt-${token}` });
  const event = withFields(placed, fields);
  return isSigned ? provider.sign(event, settings, now) : event;
}

/** What it is sent as: a field that was set may have made it another. */
export function typeOf({ provider, eventType, settings }: EventOrder, event: InboundRequest): string {
  try {
    return provider.typeOf(event, settings);
  } catch {
    return eventType;
  }
}

/** A sender of no known form has its type and its id where the source's owner says: there a sample has them, too. */
function withTypeAndId(
  sample: InboundRequest,
  settings: ProviderSettings,
  found: Readonly<Record<'eventType' | 'eventId', string>>,
): InboundRequest {
  const headers: Record<string, string> = { ...sample.headers };
  let body: object | undefined;
  for (const what of ['eventType', 'eventId'] as const) {
    const name = settings[`${what}Header`];
    const path = settings[`${what}Path`];
    if (typeof name === 'string') headers[name.toLowerCase()] = found[what];
    else if (typeof path === 'string') {
      body ??= JSON.parse(Buffer.from(sample.body).toString('utf8')) as object;
      setAt(body, path.split('.'), found[what]);
    }
  }
  return { ...sample, headers, body: body === undefined ? sample.body : Buffer.from(JSON.stringify(body)) };
}

function setAt(body: object, path: readonly string[], value: string): void {
  const [name = '', ...rest] = path;
  const fields = body as Record<string, unknown>;
  if (rest.length === 0) {
    fields[name] = value;
    return;
  }
  const next = fields[name];
  if (typeof next !== 'object' || next === null) fields[name] = {};
  setAt(fields[name] as object, rest, value);
}
