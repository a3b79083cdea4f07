/**
 * What a sender needs of the message of a delivery that is leased, after RETURNING, which sees no other table: the payload; and
 * of a received one its event id, its headers as they are stored and its content type, in one column that is NULL for the others.
 */
const of = (columns: string) =>
  `(SELECT ${columns} FROM messages m WHERE m.application_id = deliveries.application_id AND m.id = message_id)`;

export const OF_MESSAGE = `${of('payload')} AS payload,
  CASE WHEN application_id GLOB 'src_*' THEN ${of('json_array(event_id, headers, content_type)')} END AS received`;
