/**
 * What only a received message has, in one column that is NULL for the others: its event id, its headers as they are stored and
 * its content type. For rows that are claimed; `m` is the message.
 */
export const RECEIVED = `CASE WHEN m.application_id LIKE 'src\\_%'
  THEN json_build_array(m.event_id, m.headers, m.content_type)::text END AS received`;
