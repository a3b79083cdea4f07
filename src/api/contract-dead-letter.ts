/** The shapes of dead letters on the wire: lists, groups, reports, and what is done to many at once. */
import { type Static, Type } from 'typebox';
import { Nullable, PageQuery, Time } from './contract.ts';
import { AttemptOut, DeliveryDetailOut, DeliveryOut, Selection, TimeQuery, Words } from './contract-delivery.ts';
import { WholeMessageOut } from './contract-message-log.ts';

export const DeadLetterOut = Type.Object({ ...DeliveryOut.properties, lastAttempt: Nullable(AttemptOut) });

export const DeadLetterDetailOut = Type.Object({ ...DeliveryDetailOut.properties, message: WholeMessageOut });
export type DeadLetterDetailOut = Static<typeof DeadLetterDetailOut>;

const Text = (description: string) => Type.Optional(Type.String({ description }));
const Cause = Type.Optional(Words(['exhausted', 'rejected']));
const Source = Text('Id or uid of a source, in place of an application.');
const Group = Text('The id of a group: owner/event.type/fingerprint.');
const Fingerprint = Text('Of the error that it died of.');
const ErrorText = Text('Text in the error that it died of, in any case.');
const Died = {
  died_before: Text('Only what died before this date.'),
  died_after: Text('Only what died after this date.'),
};

const Filter = {
  ...Selection,
  source: Source,
  group: Group,
  cause: Cause,
  fingerprint: Fingerprint,
  error: ErrorText,
};
const FilterQuery = {
  ...Filter,
  ...Died,
  before: TimeQuery.before,
  after: TimeQuery.after,
  event_types: TimeQuery.event_types,
};
export const DeadLetterListQuery = Type.Object({ ...FilterQuery, ...PageQuery });
export const DeadLetterArchiveQuery = Type.Object(FilterQuery);
export type DeadLetterArchiveQuery = Static<typeof DeadLetterArchiveQuery>;
export const GroupListQuery = Type.Object({
  application: Selection.application,
  source: Source,
  ...Died,
  ...PageQuery,
});
export const ReportQuery = Type.Object({ application: Selection.application, source: Source, ...Died });

export const GroupOut = Type.Object({
  id: Type.String({ description: 'Select by it: {"group": id}.' }),
  applicationId: Type.String({ description: 'The owner: an application or a source.' }),
  eventType: Type.String(),
  fingerprint: Type.String(),
  count: Type.Integer(),
  countIsCapped: Type.Boolean({ description: 'Whether there are more than were counted.' }),
  firstAt: Time,
  lastAt: Time,
  error: Type.String({ description: 'Of the last one of them.' }),
  exampleId: Type.String({ description: 'The dead letter that the error is of.' }),
});
export type GroupOut = Static<typeof GroupOut>;

const OwnerOut = Type.Object({
  kind: Words(['application', 'source']),
  id: Type.String(),
  name: Type.String(),
});
export const ReportOut = Type.Object({
  from: Time,
  to: Time,
  total: Type.Integer(),
  groupCount: Type.Integer(),
  isCapped: Type.Boolean({ description: 'Whether the total is at least what it says.' }),
  groups: Type.Array(Type.Object({ ...GroupOut.properties, owner: OwnerOut })),
});
export type ReportOut = Static<typeof ReportOut>;

/** At least one field, or all. A field of another name is refused: it would select too much. */
export const DeadLetterSelection = Type.Object({
  ...Filter,
  eventTypes: Type.Optional(Type.Array(Type.String())),
  before: Type.Optional(Type.String()),
  after: Type.Optional(Type.String()),
  diedBefore: Type.Optional(Type.String()),
  diedAfter: Type.Optional(Type.String()),
  ids: Type.Optional(Type.Array(Type.String(), { maxItems: 1000, description: 'These, and nothing by filter.' })),
  all: Type.Optional(Type.Boolean({ description: 'True: all there are, in place of every other field.' })),
});
export type DeadLetterSelection = Static<typeof DeadLetterSelection>;

/** How a large selection is taken with progress: a part at a time, each in one transaction. */
const PartIn = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Take so many and answer; without it, all are taken.' }),
  ),
  iterator: Type.Optional(Nullable(Type.String({ description: 'That of the answer before this one.' }))),
};
export const RetryAllIn = Type.Object({ ...DeadLetterSelection.properties, ...PartIn });
export const DiscardIn = Type.Object({ reason: Type.String({ description: 'Why, for whoever looks at it later.' }) });
export const DiscardAllIn = Type.Object({ filter: DeadLetterSelection, reason: Type.String(), ...PartIn });
const Named = Type.Object({ id: Type.String(), reason: Type.String() });
export const TakenOut = Type.Object({
  count: Type.Integer(),
  skipped: Type.Integer({ description: 'Matched, but could not be taken. Counted with a limit, or with ids.' }),
  withoutEndpoint: Type.Integer({
    description: 'Of the skipped ones, those whose endpoint is deleted: others were faster with the rest.',
  }),
  notDead: Type.Array(Named, {
    description: 'Those of `ids` that are no dead letters, and what they are.',
  }),
  iterator: Nullable(Type.String()),
  done: Type.Boolean(),
});
export type TakenOut = Static<typeof TakenOut>;
const AT_ONCE = { minItems: 1, maxItems: 1000 };
export const PurgeIn = Type.Object({
  ids: Type.Optional(Type.Array(Type.String(), AT_ONCE)),
  letters: Type.Optional(
    Type.Array(Type.Object({ id: Type.String(), updatedAt: Type.Integer() }), {
      ...AT_ONCE,
      description: 'In place of ids: those that are still as the `delivery` in the line of an archive says.',
    }),
  ),
});
export const PurgedOut = Type.Object({
  count: Type.Integer(),
  kept: Type.Array(Named, { description: 'Those that are still there: no dead letters, or changed since.' }),
});
export type PurgedOut = Static<typeof PurgedOut>;
export const RestoredOut = Type.Object({
  restored: Type.Integer(),
  exists: Type.Integer({ description: 'Were there already, and stay as they are.' }),
  missing: Type.Integer({ description: 'Their application or source is gone.' }),
  conflict: Type.Integer({ description: 'Another message has their event id.' }),
});
