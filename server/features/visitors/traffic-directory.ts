// Traffic settings of workspaces: the query parameters that their clicks keep. All of them are in memory, because redirects
// ask for them and never wait. Few workspaces have any.

import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/database.ts'

export interface WorkspaceTraffic {
  /** Names of query parameters. */
  keptParams: readonly string[]
}

export interface TrafficDirectory {
  /** @returns undefined for a workspace that says nothing */
  find(workspaceId: number): WorkspaceTraffic | undefined
  /** Reads the workspace again, or all. Call it when a change is committed, here or in another process. */
  reload(workspaceId?: number): Promise<void>
}

interface DirectoryState {
  read: Database['read']
  workspaces: Map<number, WorkspaceTraffic>
  /** The number of the last read that was begun, and the last one applied to each workspace. */
  started: number
  applied: Map<number, number>
}

/** Knows nothing until the first `reload()`. */
export function createTrafficDirectory({ read }: Pick<Database, 'read'>): TrafficDirectory {
  const state: DirectoryState = { read, workspaces: new Map(), started: 0, applied: new Map() }
  return {
    find: (workspaceId) => state.workspaces.get(workspaceId),
    reload: (workspaceId) => (workspaceId === undefined ? reloadAll(state) : reloadOne(state, workspaceId)),
  }
}

/** Reloads in the background: a failure leaves what is known. */
export const reloadTraffic = (directory: TrafficDirectory, workspaceId?: number): void =>
  void directory
    .reload(workspaceId)
    .catch((error) => log.error('traffic_settings_not_read', describeError(error)))

const selectSettings = (read: Database['read']) =>
  read.selectFrom('workspaces').select(['id', 'kept_params']).where('kept_params', 'is not', null)

type SettingsRow = Awaited<ReturnType<ReturnType<typeof selectSettings>['execute']>>[number]

const toTraffic = ({ kept_params }: SettingsRow): WorkspaceTraffic => ({
  keptParams: JSON.parse(kept_params ?? '[]'),
})

async function reloadAll(state: DirectoryState): Promise<void> {
  const number = ++state.started
  const rows = await selectSettings(state.read).execute()
  const found = new Map(rows.map((row) => [row.id, toTraffic(row)]))
  for (const id of new Set([...state.workspaces.keys(), ...found.keys()]))
    apply(state, id, found.get(id), number)
}

async function reloadOne(state: DirectoryState, id: number): Promise<void> {
  const number = ++state.started
  const row = await selectSettings(state.read).where('id', '=', id).executeTakeFirst()
  apply(state, id, row && toTraffic(row), number)
}

/** A read that began earlier may end later. */
function apply(
  { workspaces, applied }: DirectoryState,
  id: number,
  traffic: WorkspaceTraffic | undefined,
  number: number,
): void {
  if (number < (applied.get(id) ?? 0)) return
  if (traffic) {
    applied.set(id, number)
    workspaces.set(id, traffic)
  } else workspaces.delete(id)
}
