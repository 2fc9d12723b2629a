// Check: the clicks that links show are the clicks that analytics know, and their leads are there as submissions.

import { type CounterComparison, type CounterDifference, compareCounters } from '../counters.ts'
import { type CheckResult, ok, problem, skipped, warning } from '../finding.ts'
import { formatCount } from '../format.ts'
import { findLackingLeads } from '../lead-counts.ts'
import { type DoctorNeeds, type RowReader, withRows } from '../needs.ts'

export const checkCounters = (needs: DoctorNeeds): Promise<CheckResult[]> =>
  withRows(needs, async (rows) => {
    const comparison = await compareCounters({ rows, inspectHits: needs.inspectHits })
    return [...judgeClicks(comparison, needs), ...(await judgeLeads(rows))]
  })

function judgeClicks(
  comparison: CounterComparison | undefined,
  { settings, isServerRunning }: DoctorNeeds,
): CheckResult[] {
  if (!comparison) return [ok('No click has been counted yet.')]
  const { differences, clicks, links, behind } = comparison
  // Hits that are past their retention are deleted, and counters keep them.
  const isShort = settings.hitRetentionDays !== undefined
  const found = [
    ...describeDifference(
      differences.filter(({ missing }) => missing > 0),
      'Links show fewer clicks than analytics have',
      'The links were restored from an older backup than the hits, or a transaction was lost. Keep both, and report it.',
    ),
    ...describeDifference(
      isShort ? [] : differences.filter(({ missing }) => missing < 0),
      'Analytics have fewer clicks than the links show',
      'A batch was damaged or deleted (see the check of the spool). Restore the hits from a backup where you need them.',
    ),
  ]
  if (found.length > 0) return found
  if (behind.length > 0)
    return [
      isServerRunning
        ? warning(
            `Clicks of ${formatCount(behind.length, 'node')} (${behind.join(', ')}) are still being stored, and cannot be compared yet.`,
            'Try again in a minute. If this persists, the node is down, or its hit store does not load.',
          )
        : skipped('Some clicks wait for the next start of the server, and cannot be compared until then.'),
    ]
  return [
    ok(
      `${formatCount(clicks, 'click')} on ${formatCount(links, 'link')} are in both stores${isShort ? ', within HIT_RETENTION_DAYS' : ''}.`,
    ),
  ]
}

function describeDifference(differences: CounterDifference[], what: string, fix: string): CheckResult[] {
  if (differences.length === 0) return []
  const clicks = differences.reduce((sum, { missing }) => sum + Math.abs(missing), 0)
  const workspaces = [...new Set(differences.map(({ workspaceId }) => workspaceId))].sort((a, b) => a - b)
  const first = differences[0]?.linkId
  return [
    problem(
      `${what}: ${formatCount(clicks, 'click')} of ${formatCount(differences.length, 'link')}, in ${nameWorkspaces(workspaces)} (the first is link ${first}).`,
      fix,
    ),
  ]
}

function nameWorkspaces(ids: number[]): string {
  const shown = ids.slice(0, 5).join(', ')
  return ids.length === 1
    ? `workspace ${shown}`
    : `${ids.length} workspaces (${shown}${ids.length > 5 ? ', …' : ''})`
}

/** A deleted submission stays in the counter of its link. So a counter may be above its submissions, and never below. */
async function judgeLeads(rows: Pick<RowReader, 'read'>): Promise<CheckResult[]> {
  const { differences, leads } = await findLackingLeads(rows.read)
  if (differences === 0)
    return [ok(`The counters of links have all ${formatCount(leads, 'lead')} of the stored submissions.`)]
  return [
    problem(
      `Links with fewer leads than submissions: ${differences}.`,
      'The links were restored from an older backup than the submissions, or a transaction was lost. Report it.',
    ),
  ]
}
