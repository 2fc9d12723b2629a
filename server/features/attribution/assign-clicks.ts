// Writes down which click brought submissions whose page had not carried it to the form: on the submission, among its
// touches, and on the counter of the link.

import { sql } from 'kysely'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { LastClick } from '../../storage/hits/hit-engine.ts'
import type { ClickIds } from '../hits/click-id.ts'
import type { LinkCache } from '../links/cache.ts'
import { creditLeads } from '../links/credit-leads.ts'
import type { Touch, TouchKind } from '../tracking/touch.ts'
import { type CampaignColumns, toCampaign } from '../visitors/campaign-columns.ts'
import { insertTouches } from './record-touches.ts'

/** Submissions of one click, or of none. */
export interface ClickAssignment {
  click: LastClick | null
  ids: number[]
}

export interface AssignClicksNeeds {
  db: Database
  clickIds: Pick<ClickIds, 'sign'>
  cache: Pick<LinkCache, 'invalidate'>
}

// Written out, since an index on some rows is used only where the statement itself says that it wants those.
export const ATTRIBUTION_DUE = sql<boolean>`attribution_due = 1`

/** What was decided in between stays as it is. */
export async function assignClicks(
  { db, clickIds, cache }: AssignClicksNeeds,
  workspaceId: number,
  all: ClickAssignment[],
) {
  await db.write(async (connection, onCommit) => {
    const leads = new Map<number, number>()
    for (const { click, ids } of all) {
      const name = click && clickIds.sign({ ...click, workspaceId })
      const decided = await markAssigned(
        connection,
        workspaceId,
        ids,
        click && { link_id: click.linkId, click_id: name },
      )
      if (!click) continue
      const touched = await addClick(connection, workspaceId, decided, { ...click, clickId: name })
      for (const { isLead, touches } of touched) {
        const linkId = touches.at(-1)?.linkId
        if (isLead && typeof linkId === 'number') leads.set(linkId, (leads.get(linkId) ?? 0) + 1)
      }
    }
    // Last, and in one order everywhere: nobody waits long for a link, and no two for each other.
    for (const [linkId, count] of [...leads].sort(([a], [b]) => a - b)) {
      await creditLeads({ cache }, connection, onCommit, { workspaceId, linkId, leads: count })
    }
  })
}

type AssignedSubmission = Awaited<ReturnType<typeof markAssigned>>[number]

const markAssigned = (
  connection: Connection,
  workspaceId: number,
  ids: number[],
  click: { link_id: number; click_id: string | null } | null,
) =>
  connection
    .updateTable('submissions')
    .set({ attribution_due: 0, ...(click && { attribution: 'inferred', ...click }) })
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .where(ATTRIBUTION_DUE)
    .returning([
      'id',
      'duplicate_of',
      'status',
      'referrer',
      'landing_url',
      'utm_source',
      'utm_medium',
      'utm_campaign',
      'utm_term',
      'utm_content',
    ])
    .execute()

type InferredClick = LastClick & { clickId: string | null }

/** @returns the touches that each submission has now */
async function addClick(
  connection: Connection,
  workspaceId: number,
  decided: AssignedSubmission[],
  click: InferredClick,
) {
  if (decided.length === 0) return []
  const ids = decided.map(({ id }) => id)
  const known = await connection
    .selectFrom('touches')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', 'in', ids)
    .orderBy('position')
    .execute()
  const before = Map.groupBy(known, (row) => row.submission_id)
  if (known.length > 0) {
    await connection
      .deleteFrom('touches')
      .where('workspace_id', '=', workspaceId)
      .where('submission_id', 'in', [...before.keys()])
      .execute()
  }
  const touched = decided.map((row) => ({
    id: row.id,
    isLead: row.duplicate_of === null && row.status !== 'spam',
    touches: mergeClick(before.get(row.id)?.map(toTouch) ?? [], toClickTouch(click, row)),
  }))
  await insertTouches(connection, workspaceId, touched)
  return touched
}

const toClickTouch = (click: InferredClick, row: AssignedSubmission): Touch => ({
  at: click.at,
  kind: 'click',
  linkId: click.linkId,
  clickId: click.clickId,
  referrer: row.referrer,
  landingUrl: row.landing_url,
  ...toCampaign(row),
})

/** A page that is seen so soon after a click is where it led. */
const LANDS_WITHIN_MS = 60_000

/**
 * The click explains the touch that it led to, whose page did not say so; else it is a touch of its own, at its time.
 */
export function mergeClick(touches: Touch[], click: Touch): Touch[] {
  const next = touches.findIndex(({ at }) => at >= click.at)
  const landing = touches[next]
  if (landing && (landing.kind === 'direct' || landing.at - click.at < LANDS_WITHIN_MS)) {
    const { kind, linkId, clickId } = click
    return touches.with(next, { ...landing, kind, linkId, clickId })
  }
  if (touches.length === 0) return [click]
  const bare: Touch = {
    ...EMPTY_CAMPAIGN,
    at: click.at,
    kind: 'click',
    linkId: click.linkId,
    clickId: click.clickId,
  }
  return touches.toSpliced(next === -1 ? touches.length : next, 0, bare)
}

const EMPTY_CAMPAIGN = {
  referrer: null,
  landingUrl: null,
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
}

interface TouchRow extends CampaignColumns {
  at: number
  kind: string
  link_id: number | null
  click_id: string | null
  referrer: string | null
  landing_url: string | null
}

/** As it was written by `insertTouches`. */
export const toTouch = (row: TouchRow): Touch => ({
  at: row.at,
  kind: row.kind as TouchKind,
  linkId: row.link_id,
  clickId: row.click_id,
  referrer: row.referrer,
  landingUrl: row.landing_url,
  ...toCampaign(row),
})
