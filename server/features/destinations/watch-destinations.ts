// The daily check of destinations. Each run takes a bounded number of due URLs: the same number for each workspace,
// the longest waiting first, hosts in parallel, and the URLs of one host one after the other.

import { describeError, log } from '../../lib/log.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { OwnersMailNeeds } from '../accounts/workspaces/mail-owners.ts'
import type { CheckNeeds } from './check-destination.ts'
import { checkDestination } from './check-destination.ts'
import { FAILURES_TO_TELL, judgeCheck, readStoredState, toStoredState } from './judge-check.ts'
import { createPoliteClient, type PoliteClientNeeds } from './polite-client.ts'
import { reportBroken } from './report-broken.ts'
import { type DestinationSync, SYNC_EVERY_MS, toRequestUrl } from './sync-destinations.ts'

export interface WatchNeeds extends OwnersMailNeeds, PoliteClientNeeds, Pick<CheckNeeds, 'site'> {
  db: Database
  now: () => number
  sync: DestinationSync
}

/** The job runs once a minute, and one check takes up to 20 seconds. */
const RUN_MS = 35_000
const WORKSPACES_PER_RUN = 200
const URLS_PER_WORKSPACE = 50
const URLS_PER_RUN = 600
const HOSTS_AT_ONCE = 8

interface DueUrl {
  url: string
  request_hash: string
  host: string
  state: number
  since: number | null
  failures: number
  reported_at: number | null
}

/** @returns one run of the job */
export function createDestinationWatch(needs: WatchNeeds): () => Promise<void> {
  const { db, now, sync } = needs
  const client = createPoliteClient(needs)
  return async function watchDestinations() {
    const deadline = client.readClock() + RUN_MS
    await deleteUnwatched(db)
    const watched = await listWatched(db.read)
    for (const workspaceId of watched) {
      if (client.readClock() > deadline) return
      await sync.syncOlderThan(workspaceId, SYNC_EVERY_MS)
    }
    const hosts = (await listDueByHost(db.read, now())).values()
    const lanes = Array.from({ length: HOSTS_AT_ONCE }, async () => {
      for (const urls of hosts)
        for (const due of urls) {
          if (client.readClock() > deadline) return
          await checkDue({ ...needs, client }, due)
        }
    })
    await Promise.all(lanes)
    for (const workspaceId of watched) await reportBroken(needs, workspaceId)
  }
}

function listWatched(connection: Connection): Promise<number[]> {
  return connection
    .selectFrom('workspaces')
    .select('id')
    .where('watch_destinations', '=', 1)
    .where('suspended_at', 'is', null)
    .orderBy('id')
    .execute()
    .then((rows) => rows.map(({ id }) => id))
}

/** The checks of workspaces that have switched the setting off. */
async function deleteUnwatched(db: Database): Promise<void> {
  const off = await db.read
    .selectFrom('workspaces')
    .select('id')
    .where('watch_destinations', '=', 0)
    .where((e) =>
      e.exists(
        e.selectFrom('destinations').select('destinations.id').whereRef('workspace_id', '=', 'workspaces.id'),
      ),
    )
    .execute()
  for (const { id } of off)
    await db.write((connection) =>
      connection.deleteFrom('destinations').where('workspace_id', '=', id).execute(),
    )
}

/** The due URLs, alternating between workspaces: the first of each, the second of each, … Each request once. */
async function listDueByHost(connection: Connection, at: number): Promise<DueUrl[][]> {
  const waiting = await connection
    .selectFrom('destinations')
    .innerJoin('workspaces', 'workspaces.id', 'destinations.workspace_id')
    .select((e) => ['workspace_id', e.fn.min('next_check_at').as('first')])
    .where('next_check_at', '<=', at)
    .where('watch_destinations', '=', 1)
    .where('suspended_at', 'is', null)
    .groupBy('workspace_id')
    .orderBy('first')
    .limit(WORKSPACES_PER_RUN)
    .execute()
  const each = await Promise.all(
    waiting.map(({ workspace_id }) =>
      connection
        .selectFrom('destinations')
        .select(['url', 'request_hash', 'host', 'state', 'since', 'failures', 'reported_at'])
        .where('workspace_id', '=', workspace_id)
        .where('next_check_at', '<=', at)
        .orderBy('next_check_at')
        .limit(URLS_PER_WORKSPACE)
        .execute(),
    ),
  )
  const taken = new Set<string>()
  const hosts = new Map<string, DueUrl[]>()
  for (let turn = 0; turn < URLS_PER_WORKSPACE; turn++)
    for (const urls of each) {
      const due = urls[turn]
      if (!due || taken.has(due.request_hash) || taken.size >= URLS_PER_RUN) continue
      taken.add(due.request_hash)
      hosts.set(due.host, [...(hosts.get(due.host) ?? []), due])
    }
  return [...hosts.values()]
}

/** A URL that cannot be checked must not stop the others. */
async function checkDue(needs: WatchNeeds & CheckNeeds, due: DueUrl): Promise<void> {
  try {
    const ignoresRobotsErrors = due.failures >= FAILURES_TO_TELL - 1
    const result = await checkDestination(needs, toRequestUrl(due.url), { ignoresRobotsErrors })
    await storeCheck(needs, due, result)
  } catch (error) {
    log.warn('destination_not_checked', { host: due.host, ...describeError(error) })
  }
}

async function storeCheck(
  { db, now }: WatchNeeds,
  due: DueUrl,
  result: Parameters<typeof judgeCheck>[1],
): Promise<void> {
  const at = now()
  const before = { ...due, state: readStoredState(due.state), reportedAt: due.reported_at }
  const { state, since, failures, status, message, nextCheckAt } = judgeCheck(before, result, at)
  await db.write((connection) =>
    connection
      .updateTable('destinations')
      .set({
        state: toStoredState(state),
        since,
        failures,
        status,
        message,
        checked_at: at,
        next_check_at: nextCheckAt,
        ...(state === 'ok' && { reported_at: null }),
      })
      .where('request_hash', '=', due.request_hash)
      .execute(),
  )
}
