// Leases: the right of one node to run a job for a while. A node that dies loses its leases when they end, and another
// node takes them.

import { sql } from 'kysely'
import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { DATABASE_CLOCK } from './database-clock.ts'

export interface LeaseRunner {
  /**
   * Runs `work` unless another node has the lease of this name, or the work already runs in this process. The lease
   * stays for `holdMs` from its start, so that one node in all runs the work in that time. It is renewed while the work
   * runs. A node that the database does not hear can lose it in the middle, so the work must bear to run twice at once.
   * @returns whether the work ran @throws what `work` throws, and `unavailable`
   */
  runAlone(name: string, holdMs: number, work: () => Promise<void>): Promise<boolean>
}

interface LeaseNeeds {
  db: Database
  node: string
}

/** Two renewals can fail before the lease ends. */
const RENEWALS_IN_HOLD = 3

/** For a process that has no others beside it. */
export function createLocalLeases(): LeaseRunner {
  const running = new Set<string>()
  return {
    runAlone: (name, _holdMs, work) =>
      runOnce(running, name, async () => {
        await work()
        return true
      }),
  }
}

export function createLeases(needs: LeaseNeeds): LeaseRunner & { close(): Promise<void> } {
  const running = new Set<string>()
  return {
    runAlone: (name, holdMs, work) =>
      runOnce(running, name, async () => {
        if (!(await takeLease(needs, name, holdMs))) return false
        const renewal = startRenewal(needs, name, holdMs)
        try {
          await work()
        } finally {
          await renewal.stop()
        }
        return true
      }),
    close: () => releaseLeases(needs),
  }
}

async function runOnce(running: Set<string>, name: string, run: () => Promise<boolean>): Promise<boolean> {
  if (running.has(name)) return false
  running.add(name)
  try {
    return await run()
  } finally {
    running.delete(name)
  }
}

/**
 * One statement without BEGIN and COMMIT around it, because each node runs it every second. A lease of another node is
 * only read: it costs no write. If two nodes take one at once, the second changes nothing. A lease that ends much
 * later than a new one would was taken before the database's clock was set back, and counts no more.
 */
async function takeLease({ db, node }: LeaseNeeds, name: string, holdMs: number): Promise<boolean> {
  const { rows } = await sql`insert into leases as held (name, node, until)
    select ${name}, ${node}, ${DATABASE_CLOCK} + ${holdMs}::bigint
    where not exists (
      select from leases where name = ${name} and node <> ${node} and until > ${DATABASE_CLOCK}
        and until <= ${DATABASE_CLOCK} + ${2 * holdMs}::bigint
    )
    on conflict (name) do update set node = excluded.node, until = excluded.until
    where held.node = excluded.node or held.until <= ${DATABASE_CLOCK}
      or held.until > ${DATABASE_CLOCK} + ${2 * holdMs}::bigint
    returning name`.execute(db.read)
  return rows.length > 0
}

function startRenewal(needs: LeaseNeeds, name: string, holdMs: number) {
  let renewing: Promise<void> | undefined
  const timer = setInterval(() => {
    renewing ??= renewLease(needs, name, holdMs)
      .catch((error) => log.warn('lease_not_renewed', { lease: name, ...describeError(error) }))
      .finally(() => {
        renewing = undefined
      })
  }, holdMs / RENEWALS_IN_HOLD)
  return {
    async stop() {
      clearInterval(timer)
      await renewing
    },
  }
}

async function renewLease({ db, node }: LeaseNeeds, name: string, holdMs: number): Promise<void> {
  await sql`update leases set until = ${DATABASE_CLOCK} + ${holdMs}::bigint
    where name = ${name} and node = ${node}`.execute(db.read)
}

/** The database may be away when the process ends. The leases then end by themselves. */
async function releaseLeases({ db, node }: LeaseNeeds): Promise<void> {
  await db
    .write((connection) => connection.deleteFrom('leases').where('node', '=', node).execute())
    .catch((error) => log.warn('leases_not_released', describeError(error)))
}
