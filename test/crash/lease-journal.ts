/**
 * Who changed which lease: triggers in the database write down every node that joins or is fenced and every change of a
 * delivery, with the process that made it. Their order is the database's own: changes of one delivery are in the order of
 * its row's locks, and nothing is leased under an epoch while another transaction fences it.
 */
import type pg from 'pg';

interface LeaseChange {
  readonly delivery_id: string;
  readonly writer: string;
  readonly old_state: string | null;
  readonly old_epoch: string | null;
  readonly new_state: string;
  readonly new_epoch: string | null;
  readonly seq: string;
}

interface NodeChange {
  readonly epoch: string;
  readonly kind: 'joined' | 'fenced';
  readonly writer: string;
  readonly seq: string;
}

// Constants instead of the sessions' settings: a trigger runs with the search path of whoever fires it.
const JOURNAL = `
  CREATE SCHEMA journal;
  CREATE SEQUENCE journal.seq;
  CREATE TABLE journal.nodes (
    seq bigint DEFAULT nextval('journal.seq'), epoch bigint, kind text,
    writer text DEFAULT current_setting('application_name'));
  CREATE TABLE journal.leases (
    seq bigint DEFAULT nextval('journal.seq'), delivery_id text, old_state text, old_epoch bigint, new_state text,
    new_epoch bigint, writer text DEFAULT current_setting('application_name'));
  CREATE INDEX ON journal.leases (delivery_id, seq);

  CREATE FUNCTION journal.note_node() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      INSERT INTO journal.nodes (epoch, kind) VALUES (NEW.epoch, 'joined');
    ELSIF NEW.expires_at = 0 AND OLD.expires_at <> 0 THEN
      INSERT INTO journal.nodes (epoch, kind) VALUES (NEW.epoch, 'fenced');
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER note AFTER INSERT OR UPDATE ON posthorn.nodes FOR EACH ROW EXECUTE FUNCTION journal.note_node();

  CREATE FUNCTION journal.note_lease() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      INSERT INTO journal.leases (delivery_id, new_state, new_epoch) VALUES (NEW.id, NEW.state, NEW.lease_epoch);
    ELSE
      INSERT INTO journal.leases (delivery_id, old_state, old_epoch, new_state, new_epoch)
      VALUES (NEW.id, OLD.state, OLD.lease_epoch, NEW.state, NEW.lease_epoch);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER note AFTER INSERT OR UPDATE ON posthorn.deliveries FOR EACH ROW EXECUTE FUNCTION journal.note_lease();`;

/** On an empty database that has the schema `posthorn`, before the first node to be watched joins. */
export async function keepLeaseJournal(client: pg.Client): Promise<void> {
  await client.query(JOURNAL);
}

export interface LeaseFindings {
  /** Every change that a node made without the right to it, for a person. */
  readonly violations: readonly string[];
  /** How often each delivery was taken over. */
  readonly takeOvers: ReadonlyMap<string, number>;
  /** How many epochs were fenced. */
  readonly fenced: number;
}

export async function readLeaseJournal(client: pg.Client): Promise<LeaseFindings> {
  const nodes = await client.query<NodeChange>('SELECT * FROM journal.nodes ORDER BY seq');
  const leases = await client.query<LeaseChange>('SELECT * FROM journal.leases ORDER BY seq');
  return judge(nodes.rows, leases.rows);
}

/**
 * What is leased under an epoch is changed by the process that has that epoch, or is taken over by one of a living epoch
 * after the first was fenced; and nothing is leased under an epoch that is fenced or that the writer does not have.
 */
export function judge(nodes: readonly NodeChange[], leases: readonly LeaseChange[]): LeaseFindings {
  const owner = new Map(nodes.flatMap(({ kind, epoch, writer }) => (kind === 'joined' ? [[epoch, writer]] : [])));
  const fencedAt = new Map(nodes.flatMap(({ kind, epoch, seq }) => (kind === 'fenced' ? [[epoch, Number(seq)]] : [])));
  const isFenced = (epoch: string, seq: string) => (fencedAt.get(epoch) ?? Number.POSITIVE_INFINITY) < Number(seq);
  const violations: string[] = [];
  const takeOvers = new Map<string, number>();
  for (const change of leases) {
    const { delivery_id: id, old_epoch: from, new_epoch: to, writer, seq } = change;
    const moved = from !== to;
    const isTakeOver = from !== null && to !== null && moved;
    if (isTakeOver) takeOvers.set(id, (takeOvers.get(id) ?? 0) + 1);
    const wrong = [
      from !== null &&
        !isTakeOver &&
        owner.get(from) !== writer &&
        `changed by ${writer}, leased to ${owner.get(from)}`,
      isTakeOver && !isFenced(from, seq) && 'taken over from a node that was not fenced',
      to !== null && moved && owner.get(to) !== writer && `leased to an epoch of ${owner.get(to)} by ${writer}`,
      to !== null && moved && isFenced(to, seq) && 'leased to an epoch that was fenced before',
    ].filter((what) => what !== false);
    violations.push(...wrong.map((what) => `${id} (${from} → ${to}, change ${seq}): ${what}`));
  }
  return { violations, takeOvers, fenced: fencedAt.size };
}
