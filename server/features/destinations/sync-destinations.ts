// Brings the table of destinations in line with the live links of a workspace. Links are read in steps: a workspace with
// 100,000 of them takes some seconds, so its sync runs once an hour, and that of a small one with each question.

import { sha256Hex } from '../../lib/crypto/sha256.ts'
import { parseUrl } from '../../lib/web-url.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { Site } from '../links/link.ts'
import { DESTINATION_STATES } from './destination-states.ts'
import { listLinkUrls } from './link-urls.ts'
import { scanLinksOfWorkspace } from './scan-links-of-workspace.ts'

export interface SyncNeeds {
  db: Database
  now: () => number
  site: Pick<Site, 'isShortHost'>
}

export interface DestinationSync {
  /** Syncs unless the last sync is younger. Calls at the same time share one. */
  syncOlderThan(workspaceId: number, maxAgeMs: number): Promise<void>
  /** For a question: a small workspace is synced now, a large one once an hour. */
  syncForQuestion(workspaceId: number): Promise<void>
  /** The links have changed: the next question syncs a large workspace too. */
  expire(workspaceId: number): void
}

interface LastSync {
  at: number
  links: number
}

export const SYNC_EVERY_MS = 60 * 60 * 1000
/** A workspace with fewer links is synced in some 100 ms. */
const SMALL = 5_000
/** Distinct destinations of one workspace that are watched. The server checks some ten thousand a day. */
const DESTINATIONS_MAX = 100_000
const ROWS_AT_ONCE = 200
const UNCHECKED = DESTINATION_STATES.indexOf('unchecked')

export function createDestinationSync(needs: SyncNeeds): DestinationSync {
  const last = new Map<number, LastSync>()
  const running = new Map<number, Promise<void>>()
  const run = (workspaceId: number): Promise<void> => {
    const open = running.get(workspaceId)
    if (open) return open
    const at = needs.now()
    const started = syncDestinations(needs, workspaceId)
      .then((links) => void last.set(workspaceId, { at, links }))
      .finally(() => running.delete(workspaceId))
    running.set(workspaceId, started)
    return started
  }
  const isOlderThan = (workspaceId: number, ageMs: number) =>
    needs.now() - (last.get(workspaceId)?.at ?? Number.NEGATIVE_INFINITY) > ageMs
  return {
    async syncOlderThan(workspaceId, maxAgeMs) {
      if (isOlderThan(workspaceId, maxAgeMs)) await run(workspaceId)
    },
    async syncForQuestion(workspaceId) {
      const isSmall = (last.get(workspaceId)?.links ?? 0) < SMALL
      if (isSmall || isOlderThan(workspaceId, SYNC_EVERY_MS)) await run(workspaceId)
    },
    expire: (workspaceId) => void last.delete(workspaceId),
  }
}

interface FoundDestination {
  url: string
  host: string
  links: number
}

/** @returns how many live links there are */
async function syncDestinations({ db, now, site }: SyncNeeds, workspaceId: number): Promise<number> {
  const found = new Map<string, FoundDestination>()
  const at = now()
  let links = 0
  for await (const link of scanLinksOfWorkspace(db.read, workspaceId, 'live')) {
    links++
    for (const url of listLinkUrls(link, at)) {
      const hash = sha256Hex(url)
      const known = found.get(hash)
      if (known) known.links++
      else if (found.size < DESTINATIONS_MAX) {
        const host = findWatchedHost(site, url)
        if (host !== undefined) found.set(hash, { url, host, links: 1 })
      }
    }
  }
  await storeDifference(db, workspaceId, found, at)
  return links
}

/**
 * @returns undefined for unwatched destinations: schemes of apps, and addresses of this server and its short domains
 */
export function findWatchedHost(site: SyncNeeds['site'], url: string): string | undefined {
  const parsed = parseUrl(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return undefined
  return site.isShortHost(parsed.host) ? undefined : parsed.hostname
}

async function storeDifference(
  db: Database,
  workspaceId: number,
  found: Map<string, FoundDestination>,
  at: number,
): Promise<void> {
  const stored = await db.read
    .selectFrom('destinations')
    .select(['id', 'url_hash', 'links'])
    .where('workspace_id', '=', workspaceId)
    .execute()
  const gone = stored.filter(({ url_hash }) => !found.has(url_hash))
  const counted = stored.flatMap(({ id, url_hash, links }) => {
    const now = found.get(url_hash)
    return now && now.links !== links ? [{ id, links: now.links }] : []
  })
  const known = new Set(stored.map(({ url_hash }) => url_hash))
  const added = [...found].filter(([hash]) => !known.has(hash))
  for (const rows of cut(gone))
    await db.write((connection) =>
      connection
        .deleteFrom('destinations')
        .where('workspace_id', '=', workspaceId)
        .where(
          'id',
          'in',
          rows.map(({ id }) => id),
        )
        .execute(),
    )
  for (const rows of cut(counted))
    await db.write(async (connection) => {
      for (const { id, links } of rows)
        await connection
          .updateTable('destinations')
          .set({ links })
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', id)
          .execute()
    })
  for (const rows of cut(added))
    await db.write((connection) => insertDestinations(connection, workspaceId, rows, at))
}

function cut<T>(rows: T[]): T[][] {
  const steps: T[][] = []
  for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) steps.push(rows.slice(i, i + ROWS_AT_ONCE))
  return steps
}

/** Two URLs that differ by their fragment are one request. */
export const toRequestUrl = (url: string) => url.split('#', 1)[0] as string

async function insertDestinations(
  connection: Connection,
  workspaceId: number,
  added: [hash: string, FoundDestination][],
  at: number,
): Promise<void> {
  const hashes = added.map(([, { url }]) => sha256Hex(toRequestUrl(url)))
  const checks = await findEarlierChecks(connection, hashes)
  await connection
    .insertInto('destinations')
    .values(
      added.map(([url_hash, { url, host, links }], i) => ({
        workspace_id: workspaceId,
        url,
        url_hash,
        request_hash: hashes[i] as string,
        host,
        links,
        ...(checks.get(hashes[i] as string) ?? { state: UNCHECKED, next_check_at: at }),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Checks of the same URL for another link or workspace: it is asked once a day for all of them. */
async function findEarlierChecks(connection: Connection, hashes: string[]) {
  const rows = await connection
    .selectFrom('destinations')
    .select([
      'request_hash',
      'state',
      'status',
      'message',
      'checked_at',
      'since',
      'failures',
      'next_check_at',
    ])
    .where('request_hash', 'in', hashes)
    .where('checked_at', 'is not', null)
    .execute()
  return new Map(rows.map(({ request_hash, ...check }) => [request_hash, check]))
}
