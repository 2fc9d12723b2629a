// Limits how many rows of a kind strangers make this server store in a day: for each workspace, and ten times that for all
// together. It counts in memory, each server process for itself.

import type { Metric } from '../../../http/health-and-metrics.ts'
import { log } from '../../../lib/log.ts'
import { type BudgetResult, createSlidingBudgets } from '../../../lib/sliding-budget.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'

export type StoredKind = 'page_views' | 'submissions' | 'uploads'

export interface StorageLimit {
  /** Counts rows, unless the limit is reached. */
  take(workspaceId: number, rows?: number): BudgetResult
  /** Reports in log and metrics that the workspace has reached a limit. `take` calls it. */
  noteReached(workspaceId: number): void
  metrics(): Metric[]
}

interface StorageLimitNeeds {
  kind: StoredKind
  perWorkspace: number
  /** Monotonic milliseconds. */
  clock?: () => number
  /** Called with the first refusal of an episode. */
  onReached?: (workspaceId: number) => void
}

const WORKSPACES_WORTH = 10
/** An hour without a refusal ends an episode. */
const EPISODE_MS = 60 * 60_000
const EPISODES_MAX = 1_000

export function createStorageLimit({
  kind,
  perWorkspace,
  clock = () => performance.now(),
  onReached = () => {},
}: StorageLimitNeeds): StorageLimit {
  const budgets = createSlidingBudgets({ windowMs: DAY_MS, clock })
  /** When each workspace was refused last, in the order of these times. */
  const episodes = new Map<number, number>()
  let refused = 0

  function endEpisodes() {
    for (const [workspaceId, at] of episodes) {
      if (clock() - at < EPISODE_MS && episodes.size <= EPISODES_MAX) return
      episodes.delete(workspaceId)
    }
  }

  function noteReached(workspaceId: number) {
    endEpisodes()
    refused++
    const isNew = !episodes.delete(workspaceId)
    episodes.set(workspaceId, clock())
    if (!isNew) return
    log.warn('storage_limit_reached', { what: kind, workspace: workspaceId })
    onReached(workspaceId)
  }

  return {
    take(workspaceId, rows = 1) {
      // Counts for the workspace first, so that its refused rows use up nothing of the shared limit.
      const own = budgets.spend(String(workspaceId), rows, perWorkspace)
      const result = own.allowed ? budgets.spend('all', rows, perWorkspace * WORKSPACES_WORTH) : own
      if (!result.allowed) noteReached(workspaceId)
      return result
    },
    noteReached,
    metrics() {
      endEpisodes()
      return [
        {
          name: 'towpath_storage_refused_total',
          kind: 'counter',
          help: 'Requests of strangers that were refused because their workspace, or this server, has stored enough',
          labels: { what: kind },
          value: refused,
        },
        {
          name: 'towpath_storage_limit_reached',
          kind: 'gauge',
          help: 'Whether a workspace was refused so within the last hour',
          labels: { what: kind },
          value: episodes.size > 0 ? 1 : 0,
        },
      ]
    },
  }
}
