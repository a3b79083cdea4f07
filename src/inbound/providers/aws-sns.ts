import { createPrivateKey, sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { describeError, invalid } from '../../errors.ts';
import { readCertificate } from './certificate-chain.ts';
import { certificateKeys } from './certificate-keys.ts';
import { type CertificatePlace, isAllowedUrl } from './certificate-url.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { decodeBase64 } from './encoded.ts';
import { inboundEvent } from './inbound-event.ts';
import { type Json, objectBody, parseUnverified, textAt } from './json-body.ts';
import type { Verdict, VerifyPorts } from './provider.ts';
import { all, one } from './settings.ts';
import { outsideWindow, parseTimestamp } from './timestamp.ts';
import { answer, refused, unavailable, VERIFIED } from './verdict.ts';

/** By a region alone: sns.s3-accelerate.amazonaws.com is somebody's bucket. */
const HOST = /^sns\.[a-z]{2,3}(?:-[a-z]{2,12}){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?$/;
const CERTIFICATE: CertificatePlace = { host: HOST, path: /^\/[A-Za-z0-9._-]+\.pem$/ };
const SUBSCRIBE: CertificatePlace = { host: HOST, path: /^\/\?Action=ConfirmSubscription&[\w.%:&=-]+$/ };
const LONGEST_SIGNATURE = 1024;
/** Messages are looked for by the whole of it: a topic's bare name would be that of none. */
const TOPIC_ARN = /^arn:aws(?:-cn|-us-gov)?:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}(?:\.fifo)?$/;

const SAMPLE_TOPIC = 'arn:aws:sns:eu-central-1:123456789012:sample';

/** SignatureVersion 1 is what topics have until their owner asks for 2. */
const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
]);

const NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
/** A map, as above: what is looked up is a stranger's word, and an object has `constructor` too. */
const SIGNED: ReadonlyMap<string, readonly string[]> = new Map([
  ['Notification', NOTIFICATION],
  ['SubscriptionConfirmation', CONFIRMATION],
  ['UnsubscribeConfirmation', CONFIRMATION],
]);

export const awsSns = defineProvider({
  name: 'aws-sns',
  aliases: ['sns'],
  title: 'Amazon SNS',
  doc: 'Signature in the body, by the certificate that it names; subscriptions of your topics are confirmed. Raw delivery is unsigned and refused',
  settings: {
    // Everyone's topics are signed by the same certificate: without the ARN, any AWS account could send events.
    topicArn: { doc: 'arn:aws:sns:… of each topic that may send here', required: true, list: true },
  },
  signSettings: {
    privateKey: { doc: 'an RSA private key as PEM, to sign samples', required: true, secret: true },
    certificateUrl: { doc: 'where its certificate is said to be' },
    signatureVersion: { doc: '1 or 2', oneOf: ['1', '2'] },
  },
  // The timestamp is that of publishing, and an HTTP delivery policy may retry for an hour.
  toleranceMs: 75 * MINUTE_MS,
  dedupeForMs: DAY_MS,
  prepare(settings, toleranceMs) {
    const topics = all(settings, 'topicArn');
    if (!topics.every((topic) => TOPIC_ARN.test(topic))) {
      throw invalid(['settings', 'topicArn'], 'must be as the console shows it: arn:aws:sns:<region>:<account>:<name>');
    }
    // AWS publishes the certificate without its chain; that it came over https from the host above is what proves it.
    const keyAt = certificateKeys((pem, { now }) => readCertificate(pem, now));
    return async (request, ports) => {
      const body = parseUnverified(request.body);
      if (body === undefined)
        return refused('the body is not a JSON object of at most 512 KiB: turn raw message delivery off');
      if (!topics.includes(textAt(body, 'TopicArn') ?? '')) return refused('TopicArn is none of the topics');
      const timeMs = parseTimestamp(textAt(body, 'Timestamp') ?? '', 'iso');
      if (timeMs === undefined) return refused('the body has no readable Timestamp');
      const problem = outsideWindow(timeMs, ports.now, toleranceMs);
      if (problem !== undefined) return refused(problem);
      const algorithm = ALGORITHMS.get(textAt(body, 'SignatureVersion') ?? '');
      const content = signedText(body);
      const signature = decodeBase64(textAt(body, 'Signature') ?? '', LONGEST_SIGNATURE);
      if (algorithm === undefined || content === undefined || signature === undefined) {
        return refused('the body has no signature of version 1 or 2, or lacks what is signed');
      }
      const url = textAt(body, 'SigningCertURL') ?? '';
      if (!isAllowedUrl(url, CERTIFICATE)) return refused('SigningCertURL is not a certificate of Amazon SNS');
      const found = await keyAt(url, ports);
      if ('verdict' in found) return found.verdict;
      if (!verifyBytes(algorithm, content, found.chain.publicKey, signature))
        return refused('the signature does not match');
      return textAt(body, 'Type') === 'SubscriptionConfirmation' ? confirm(body, ports) : VERIFIED;
    };
  },
  sign(request, settings) {
    const version = one(settings, 'signatureVersion') ?? '2';
    const given = objectBody(request);
    const [topic] = all(settings, 'topicArn');
    const body: Json = {
      ...given,
      // A sample knows of no settings; a topic that somebody wrote into it stays.
      ...(given.TopicArn === SAMPLE_TOPIC && topic !== undefined && { TopicArn: topic }),
      SignatureVersion: version,
      SigningCertURL:
        one(settings, 'certificateUrl') ??
        'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-sample.pem',
    };
    const key = createPrivateKey(one(settings, 'privateKey') ?? '');
    const content = signedText(body) ?? Buffer.alloc(0);
    const Signature = signBytes(ALGORITHMS.get(version), content, key).toString('base64');
    return { ...request, body: Buffer.from(JSON.stringify({ ...body, Signature })) };
  },
  eventOf(request) {
    const body = objectBody(request);
    return inboundEvent({
      id: body.MessageId,
      type: body.Type,
      createdAt: parseTimestamp(textAt(body, 'Timestamp') ?? '', 'iso'),
    });
  },
  samples: {
    Notification: ({ token, now }) => ({
      headers: { 'content-type': 'text/plain; charset=UTF-8', 'x-amz-sns-message-type': 'Notification' },
      body: {
        Type: 'Notification',
        MessageId: `message-${token}`,
        TopicArn: SAMPLE_TOPIC,
        Subject: 'Hello',
        Message: '{"order":1}',
        Timestamp: new Date(now).toISOString(),
        UnsubscribeURL: 'https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe',
      },
    }),
  },
});

async function confirm(body: Json, ports: VerifyPorts): Promise<Verdict> {
  const url = textAt(body, 'SubscribeURL') ?? '';
  if (!isAllowedUrl(url, SUBSCRIBE)) return refused('SubscribeURL is not a confirmation of Amazon SNS');
  try {
    await ports.confirmSubscription(url);
  } catch (error) {
    return unavailable(`the subscription could not be confirmed: ${describeError(error)}`);
  }
  return answer({ status: 200, headers: {}, body: '' });
}

/** Names and values in alphabetical order, each on a line of its own; a Subject only where there is one. */
function signedText(body: Json): Buffer | undefined {
  const names = SIGNED.get(textAt(body, 'Type') ?? '');
  if (names === undefined) return undefined;
  let text = '';
  for (const name of names) {
    const value = textAt(body, name);
    if (value !== undefined) text += `${name}\n${value}\n`;
    else if (name !== 'Subject') return undefined;
  }
  return Buffer.from(text);
}
