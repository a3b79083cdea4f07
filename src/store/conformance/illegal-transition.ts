import { DELIVERY_STATES, LEGAL_TRANSITIONS } from '../../model/index.ts';

const LEGAL = DELIVERY_STATES.map((from) => {
  const to = LEGAL_TRANSITIONS[from].map((state) => `'${state}'`).join(', ');
  return `(old.state = '${from}' AND new.state IN (${to}))`;
});

/** The model's table as a trigger's condition: with it in the database, a statement that moves otherwise fails. */
export const ILLEGAL_TRANSITION = `old.state <> new.state AND NOT (${LEGAL.join(' OR ')})`;
