// Traffic settings of workspaces, and which of today's visitors are their people. All of it is in memory, because redirects
// ask for it and never wait.

import { isInNetworks, type Network, parseNetwork } from '../../lib/ip-network.ts'
import { describeError, log } from '../../lib/log.ts'
import { toUtcDay } from '../../lib/utc-day.ts'
import type { Connection, Database } from '../../storage/database/database.ts'
import { recordChange } from '../../storage/database/record-change.ts'
import { readReferrerHost } from './referrer.ts'
import { isBelowHost } from './referrer-spam.ts'
import type { SaltLookup } from './salts.ts'
import { toVisitorId } from './visitor-id.ts'

export interface TrafficSettings {
  /** Names of query parameters. */
  keptParams: readonly string[]
  internalNetworks: Network[]
  ignoredReferrers: ReadonlySet<string>
}

/** What a workspace says about a request. */
export interface TrafficMarks {
  /** It came from one of its people, or from one of its networks. */
  internal: boolean
  /** The workspace ignores the referrer. */
  ignored: boolean
}

export interface TrafficRequest {
  /** Milliseconds since the epoch. */
  at: number
  address: string
  headers: { get(name: string): string | null }
}

/** A request of a signed-in person. */
export interface MemberRequest {
  userId: number
  workspaceId: number
  address: string
  userAgent: string
}

export interface TrafficDirectory {
  /** @returns undefined for a workspace without settings */
  findSettings(workspaceId: number): TrafficSettings | undefined
  mark(workspaceId: number, request: TrafficRequest): TrafficMarks
  /** From now on, this visitor is internal for today in every workspace of the person. */
  addMember(request: MemberRequest): void
  /** Reads the workspace again, or all. Call it when a change is committed, here or in another process. */
  reload(workspaceId?: number): Promise<void>
}

interface TrafficNeeds {
  db: Database
  getSalt: SaltLookup
  now: () => number
}

interface DirectoryState extends TrafficNeeds {
  settings: Map<number, TrafficSettings>
  /** The day of `people`. */
  day: string
  people: Map<number, Set<number>>
  /** The number of the last read that was begun, and of the last one that was applied to each workspace. */
  started: number
  applied: Map<number, number>
}

/** Nobody has more browsers and addresses in a day. It bounds what a member with a program can store. */
const PEOPLE_MAX = 1000
const NO_MARKS: TrafficMarks = { internal: false, ignored: false }

/** Knows nothing until the first `reload()`. */
export function createTrafficDirectory(needs: TrafficNeeds): TrafficDirectory {
  const state: DirectoryState = {
    ...needs,
    settings: new Map(),
    day: '',
    people: new Map(),
    started: 0,
    applied: new Map(),
  }
  return {
    findSettings: (workspaceId) => state.settings.get(workspaceId),
    mark: (workspaceId, request) => mark(state, workspaceId, request),
    addMember: (request) => addMember(state, request),
    reload: (workspaceId) => reload(state, workspaceId),
  }
}

/** Reloads in the background: a failure leaves what is known. */
export const reloadTraffic = (directory: TrafficDirectory, workspaceId?: number): void =>
  void directory
    .reload(workspaceId)
    .catch((error) => log.error('traffic_settings_not_read', describeError(error)))

function mark(state: DirectoryState, workspaceId: number, request: TrafficRequest): TrafficMarks {
  const settings = state.settings.get(workspaceId)
  const people = state.people.get(workspaceId)
  if (!settings && !people) return NO_MARKS
  const referrer = settings?.ignoredReferrers.size ? request.headers.get('referer') : null
  return {
    internal:
      (settings !== undefined && isInNetworks(request.address, settings.internalNetworks)) ||
      (people !== undefined && isMember(state, workspaceId, people, request)),
    ignored: settings !== undefined && referrer !== null && isIgnored(referrer, settings.ignoredReferrers),
  }
}

const LABELS_MAX = 10

function isIgnored(referrer: string, hosts: ReadonlySet<string>): boolean {
  const host = readReferrerHost(referrer)
  return host !== null && isBelowHost(host, hosts, LABELS_MAX)
}

function isMember(
  state: DirectoryState,
  workspaceId: number,
  people: ReadonlySet<number>,
  { at, address, headers }: TrafficRequest,
): boolean {
  const userAgent = headers.get('user-agent') ?? ''
  return people.has(toNumber({ workspaceId, address, userAgent }, state.getSalt(at)))
}

/** 53 bits of the visitor: as many as a number holds. */
function toNumber(visitor: Parameters<typeof toVisitorId>[0], salt: string): number {
  const { high, low } = toVisitorId(visitor, salt)
  return high * 2 ** 21 + (low >>> 11)
}

function addMember(state: DirectoryState, request: MemberRequest): void {
  const at = state.now()
  const visitor = toNumber(request, state.getSalt(at))
  if (!add(state, toUtcDay(at), request.workspaceId, visitor)) return
  storeMember(state, request, at).catch((error) =>
    log.warn('internal_visitor_not_stored', describeError(error)),
  )
}

/** @returns false for a visitor who is known, and where there is no room */
function add(state: DirectoryState, day: string, workspaceId: number, visitor: number): boolean {
  if (day > state.day) Object.assign(state, { day, people: new Map() })
  if (day !== state.day) return false
  const people = state.people.get(workspaceId) ?? new Set()
  if (people.has(visitor) || people.size >= PEOPLE_MAX) return false
  state.people.set(workspaceId, people.add(visitor))
  return true
}

function listMemberships(connection: Connection, userId: number) {
  return connection.selectFrom('members').select('workspace_id').where('user_id', '=', userId).execute()
}

/** For a restart, for the other processes, and for the person's other workspaces. */
async function storeMember(
  state: DirectoryState,
  { userId, address, userAgent }: MemberRequest,
  at: number,
): Promise<void> {
  const { db, getSalt } = state
  const day = toUtcDay(at)
  await db.write(async (connection, onCommit) => {
    const rows = await listMemberships(connection, userId)
    for (const { workspace_id } of rows) {
      const visitor = toNumber({ workspaceId: workspace_id, address, userAgent }, getSalt(at))
      await connection
        .insertInto('internal_visitors')
        .values({ workspace_id, day, visitor })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      add(state, day, workspace_id, visitor)
      // SQLite has one server, which knows already.
      if (db.engine === 'postgres') recordChange(onCommit, { workspaceId: workspace_id })
    }
  })
}

const toTrafficSettings = (row: {
  kept_params: string | null
  internal_networks: string | null
  ignored_referrers: string | null
}): TrafficSettings => ({
  keptParams: JSON.parse(row.kept_params ?? '[]'),
  internalNetworks: (JSON.parse(row.internal_networks ?? '[]') as string[])
    .map(parseNetwork)
    .filter((network) => network !== undefined),
  ignoredReferrers: new Set(JSON.parse(row.ignored_referrers ?? '[]') as string[]),
})

function selectVisitors({ read }: Database, day: string) {
  return read.selectFrom('internal_visitors').select(['workspace_id', 'visitor']).where('day', '=', day)
}

async function reload(state: DirectoryState, only?: number): Promise<void> {
  const { db, now } = state
  const number = ++state.started
  const day = toUtcDay(now())
  const settings = db.read
    .selectFrom('workspaces')
    .select(['id', 'kept_params', 'internal_networks', 'ignored_referrers'])
    .where((e) =>
      e.or(
        (['kept_params', 'internal_networks', 'ignored_referrers'] as const).map((name) =>
          e(name, 'is not', null),
        ),
      ),
    )
  const people = selectVisitors(db, day)
  const rows = await (only === undefined ? settings : settings.where('id', '=', only)).execute()
  const found = new Map(rows.map((row) => [row.id, toTrafficSettings(row)]))
  const ids = only === undefined ? new Set([...state.settings.keys(), ...found.keys()]) : [only]
  for (const id of ids) apply(state, id, found.get(id), number)
  for (const { workspace_id, visitor } of await (only === undefined
    ? people
    : people.where('workspace_id', '=', only)
  ).execute())
    add(state, day, workspace_id, visitor)
}

/** A read that began earlier may end later. */
function apply(
  { settings, applied }: DirectoryState,
  id: number,
  found: TrafficSettings | undefined,
  number: number,
): void {
  if (number < (applied.get(id) ?? 0)) return
  applied.set(id, number)
  if (found) settings.set(id, found)
  else settings.delete(id)
}
