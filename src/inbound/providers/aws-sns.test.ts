import { afterAll, describe, expect, it } from 'vitest';
import { awsSns } from './aws-sns.ts';
import type { InboundRequest, VerifyPorts } from './provider.ts';
import { makeAuthority } from './testing/make-chain.ts';

const authority = makeAuthority();
afterAll(() => authority.close());
const signer = authority.issue('sns.amazonaws.com');
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:sample';
const SUBSCRIBE =
  'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:eu-central-1:123456789012:sample&Token=23f';
// Certificates that a test makes later must be valid by then.
const now = Date.now() + 3_600_000;

function message(fields: object, settings = {}): InboundRequest {
  const sample = awsSns.sample('Notification', { now, token: 't' });
  const body = Buffer.from(JSON.stringify({ ...JSON.parse(sample.body.toString()), ...fields }));
  return awsSns.sign({ ...sample, body }, { topicArn: TOPIC, privateKey: signer.privateKey, ...settings }, now);
}

function confirmation(fields: object = {}): InboundRequest {
  return message({ Type: 'SubscriptionConfirmation', Token: '23f', SubscribeURL: SUBSCRIBE, ...fields });
}

function ports(confirm: (url: string) => Promise<void> = async () => {}) {
  const fetched: string[] = [];
  const called: string[] = [];
  const all: VerifyPorts = {
    now,
    fetchCertificate: async (url) => {
      fetched.push(url);
      return signer.pem;
    },
    confirmSubscription: async (url) => {
      called.push(url);
      await confirm(url);
    },
  };
  return { ...all, fetched, called };
}

const { verify, eventOf } = awsSns.prepare({ topicArn: TOPIC });

describe('Amazon SNS', () => {
  it('confirms a subscription of its topic after the signature was verified, and answers 200', async () => {
    const port = ports();
    expect(await verify(confirmation(), port)).toEqual({ kind: 'answer', status: 200, headers: {}, body: '' });
    expect(port.called).toEqual([SUBSCRIBE]);
  });

  it("calls nothing for a subscription of somebody else's topic, with a wrong signature or to another host", async () => {
    const port = ports();
    const forged = confirmation();
    const body = Buffer.from(forged.body.toString().replace('23f', '24f'));
    for (const request of [
      confirmation({ TopicArn: 'arn:aws:sns:eu-central-1:999999999999:evil' }),
      { ...forged, body },
      confirmation({ SubscribeURL: 'https://evil.example/?Action=ConfirmSubscription&Token=23f' }),
      confirmation({ SubscribeURL: 'https://sns.eu-central-1.amazonaws.com/?Action=Publish&Message=x' }),
      confirmation({ SubscribeURL: 'http://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=23f' }),
    ]) {
      expect(await verify(request, port)).toMatchObject({ kind: 'refused' });
    }
    expect(port.called).toEqual([]);
  });

  it('asks SNS to come again when the confirmation cannot be made', async () => {
    const port = ports(async () => {
      throw new Error('refused');
    });
    expect(await verify(confirmation(), port)).toMatchObject({ kind: 'unavailable' });
  });

  it.each([
    'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem',
    'https://sns.eu-central-1.amazonaws.com.evil.example/x.pem',
    'https://sns.amazonaws.com.evil.example/x.pem',
    'https://evil.amazonaws.com/x.pem',
    'https://bucket.s3.amazonaws.com/x.pem',
    'https://sns.s3-us-west-2.amazonaws.com/x.pem',
    'https://sns.s3-accelerate.amazonaws.com/x.pem',
    'https://sns.eu-central-1.amazonaws.com/x.pem?a',
    'https://sns.eu-central-1.amazonaws.com/x.txt',
    'https://sns.eu-central-1.amazonaws.com@evil.example/x.pem',
    'https://sns.eu-central-1.amazonaws.com:444/x.pem',
    '',
  ])('fetches no certificate from %s', async (certificateUrl) => {
    const port = ports();
    const request = message({});
    const body = Buffer.from(
      JSON.stringify({ ...JSON.parse(request.body.toString()), SigningCertURL: certificateUrl }),
    );
    expect(await verify({ ...request, body }, port)).toMatchObject({ kind: 'refused' });
    expect(port.fetched).toEqual([]);
  });

  it('takes both signature versions, a message without a subject, and the hosts in China', async () => {
    for (const signatureVersion of ['1', '2']) {
      expect(await verify(message({}, { signatureVersion }), ports())).toEqual({ kind: 'verified' });
    }
    expect(await verify(message({ Subject: undefined }), ports())).toEqual({ kind: 'verified' });
    const china = { certificateUrl: 'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem' };
    expect(await verify(message({}, china), ports())).toEqual({ kind: 'verified' });
  });

  it('refuses a change of any signed field, and a signature version that it does not know', async () => {
    const signed = JSON.parse(message({}).body.toString()) as Record<string, string>;
    for (const field of [
      'Message',
      'MessageId',
      'Subject',
      'Timestamp',
      'TopicArn',
      'Type',
      'Signature',
      'SignatureVersion',
    ]) {
      for (const value of [`${signed[field]}0`, undefined, 3]) {
        if (field === 'Subject' && value === 3) continue;
        const request = { ...message({}), body: Buffer.from(JSON.stringify({ ...signed, [field]: value })) };
        expect(await verify(request, ports()), `${field} ${value}`).toMatchObject({ kind: 'refused' });
      }
    }
  });

  it('ALL-06 takes topics of every partition, and refuses what is no ARN of one, when it is prepared', () => {
    for (const partition of ['aws', 'aws-cn', 'aws-us-gov']) {
      awsSns.prepare({ topicArn: [TOPIC.replace('aws', partition), `${TOPIC}.fifo`] });
    }
    for (const topicArn of ['foo', 'sample', TOPIC.replace('sns', 'sqs'), `${TOPIC}:0`, ` ${TOPIC}`, [TOPIC, 'foo']]) {
      expect(() => awsSns.prepare({ topicArn })).toThrow(
        /^settings\.topicArn: .* arn:aws:sns:<region>:<account>:<name>$/,
      );
    }
  });

  it('tells of an unsubscription as an event', async () => {
    const request = confirmation({ Type: 'UnsubscribeConfirmation' });
    expect(await verify(request, ports())).toEqual({ kind: 'verified' });
    expect(eventOf(request)).toMatchObject({ id: 'message-t', type: 'UnsubscribeConfirmation' });
  });
});
