// Stores which click brought a submission without the snippet: on the submission, among its touches, and on the link's
// counter of leads.

import { type Selectable, sql } from 'kysely'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import { isOneOf, prepareQuery } from '../../storage/database/prepare-query.ts'
import type { Submissions } from '../../storage/database/tables/form-tables.ts'
import type { ClickSource, LastClick } from '../../storage/hits/hit-engine.ts'
import type { ClickIds } from '../hits/click-id.ts'
import type { Touch, TouchKind } from '../tracking/touch.ts'
import { hasCampaign, pickCampaign } from '../visitors/campaign.ts'
import { type CampaignColumns, toCampaign, toCampaignColumns } from '../visitors/campaign-columns.ts'
import { toSiteHost } from '../visitors/referrer.ts'
import { type CreditNeeds, insertTouches } from './record-touches.ts'

/** The submissions of one click; with `click: null`, submissions without a click. */
export interface ClickAssignment {
  click: LastClick | null
  ids: number[]
}

export interface AssignClicksNeeds extends CreditNeeds {
  db: Database
  clickIds: Pick<ClickIds, 'sign'>
}

// Written as literal SQL: a partial index is used only by a statement that has the index's own condition.
export const ATTRIBUTION_DUE = sql<boolean>`attribution_due = 1`

/** Skips submissions that were decided in the meantime: the first write wins. */
export async function assignClicks(
  { db, clickIds, creditLeads }: AssignClicksNeeds,
  workspaceId: number,
  assignments: ClickAssignment[],
) {
  await db.write(async (connection, onCommit) => {
    const leads = new Map<number, number>()
    for (const { click, ids } of assignments) {
      if (!click) {
        await setUndue(connection, { workspaceId, ids })
        continue
      }
      const clickId = clickIds.sign({ ...click, workspaceId })
      const decided = await markAssigned(connection, workspaceId, ids, {
        link_id: click.linkId,
        click_id: clickId,
      })
      const credited = await addClick(connection, workspaceId, decided, { ...click, clickId })
      for (const { isLead, touches } of credited) {
        const linkId = touches.at(-1)?.linkId
        if (isLead && typeof linkId === 'number') leads.set(linkId, (leads.get(linkId) ?? 0) + 1)
      }
    }
    // Last, so that links stay locked for a short time only; in one order, so that no two transactions deadlock.
    for (const [linkId, count] of [...leads].sort(([a], [b]) => a - b)) {
      await creditLeads(connection, onCommit, { workspaceId, linkId, leads: count })
    }
  })
}

type AssignedSubmission = Awaited<ReturnType<typeof markAssigned>>[number]

const setUndue = prepareQuery((connection, { workspaceId, ids }: { workspaceId: number; ids: number[] }) =>
  connection
    .updateTable('submissions')
    .set({ attribution_due: 0 })
    .where('workspace_id', '=', workspaceId)
    .where(isOneOf(connection, 'id', ids))
    .where(ATTRIBUTION_DUE),
)

const markAssigned = (
  connection: Connection,
  workspaceId: number,
  ids: number[],
  click: { link_id: number; click_id: string | null },
) =>
  connection
    .updateTable('submissions')
    .set({ attribution_due: 0, attribution: 'inferred', ...click })
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .where(ATTRIBUTION_DUE)
    .returning([
      'id',
      'duplicate_of',
      'status',
      'announced',
      'referrer',
      'page_url',
      'utm_source',
      'utm_medium',
      'utm_campaign',
      'utm_term',
      'utm_content',
    ])
    .execute()

type InferredClick = LastClick & { clickId: string | null }

const isLead = (row: Pick<Selectable<Submissions>, 'duplicate_of' | 'status' | 'announced'>) =>
  row.duplicate_of === null && row.announced === 1 && row.status !== 'spam'

/** Puts the click among the touches of each submission. @returns the new touches of each */
async function addClick(
  connection: Connection,
  workspaceId: number,
  decided: AssignedSubmission[],
  click: InferredClick,
) {
  if (decided.length === 0) return []
  const oldBySubmission = await takeTouches(
    connection,
    workspaceId,
    decided.map(({ id }) => id),
  )
  const submissions = decided.map((row) => {
    const touch = toClickTouch(click, row)
    const old = oldBySubmission.get(row.id)?.map(toTouch)
    const touches = old ? mergeClick(old, touch) : [addSource(touch, toSource(row))]
    return { id: row.id, row, isLead: isLead(row), touches }
  })
  await insertTouches(connection, workspaceId, submissions)
  await storeSources(connection, workspaceId, submissions)
  return submissions
}

/** Deletes the touches of submissions. @returns them by submission, in their order */
async function takeTouches(connection: Connection, workspaceId: number, ids: number[]) {
  const rows = await connection
    .selectFrom('touches')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', 'in', ids)
    .orderBy('position')
    .execute()
  const bySubmission = Map.groupBy(rows, (row) => row.submission_id)
  if (rows.length > 0) {
    await connection
      .deleteFrom('touches')
      .where('workspace_id', '=', workspaceId)
      .where('submission_id', 'in', [...bySubmission.keys()])
      .execute()
  }
  return bySubmission
}

/**
 * When the click is the last touch, the submission gets its source: the same source as in the analytics of clicks.
 * Values that the visit or the request named stay.
 */
async function storeSources(
  connection: Connection,
  workspaceId: number,
  submissions: { id: number; row: AssignedSubmission; touches: Touch[] }[],
) {
  const changed = submissions.flatMap(({ id, row, touches }) => {
    const last = touches.at(-1)
    if (last?.kind !== 'click') return []
    const columns = toSourceColumns(addSource(last, toSource(row)))
    return JSON.stringify(columns) === JSON.stringify(toSourceColumns(toSource(row))) ? [] : [{ id, columns }]
  })
  // Nearly all submissions of one click have the same source.
  for (const group of Map.groupBy(changed, ({ columns }) => JSON.stringify(columns)).values()) {
    await connection
      .updateTable('submissions')
      .set(group[0]?.columns ?? {})
      .where('workspace_id', '=', workspaceId)
      .where(
        'id',
        'in',
        group.map(({ id }) => id),
      )
      .execute()
  }
}

const toSource = (row: AssignedSubmission): ClickSource => ({ referrer: row.referrer, ...toCampaign(row) })
const toSourceColumns = (source: ClickSource) => ({
  referrer: source.referrer,
  ...toCampaignColumns(source),
})

/** The form's own site is not a source, even when its pages link to it through a short link. */
const toClickTouch = (click: InferredClick, { page_url: pageUrl }: AssignedSubmission): Touch => ({
  at: click.at,
  kind: 'click',
  linkId: click.linkId,
  clickId: click.clickId,
  referrer: pageUrl !== null && click.referrer === toSiteHost(pageUrl) ? null : click.referrer,
  landingUrl: null,
  ...pickCampaign(click),
})

/** The source overrides the touch's own values, except for values that it lacks. */
const addSource = (touch: Touch, source: ClickSource): Touch => ({
  ...touch,
  referrer: source.referrer ?? touch.referrer,
  ...(hasCampaign(source) && pickCampaign(source)),
})

/** A page that is seen this soon after a click is the page that the click led to. */
const LANDS_WITHIN_MS = 60_000

/**
 * Merges the click into the touch that it led to, because the page of that touch did not name the click. Without such
 * a touch, the click becomes a new touch at its own time.
 */
function mergeClick(touches: Touch[], click: Touch): Touch[] {
  const next = touches.findIndex(({ at }) => at >= click.at)
  const landing = touches[next]
  if (landing && (landing.kind === 'direct' || landing.at - click.at < LANDS_WITHIN_MS))
    return touches.with(next, mergeLanding(landing, click))
  return touches.toSpliced(next === -1 ? touches.length : next, 0, click)
}

/** The landing page's report takes precedence over the click's record. */
const mergeLanding = (landing: Touch, click: Touch): Touch => ({
  ...addSource(click, landing),
  at: landing.at,
  landingUrl: landing.landingUrl,
})

interface TouchRow extends CampaignColumns {
  at: number
  kind: string
  link_id: number | null
  click_id: string | null
  referrer: string | null
  landing_url: string | null
}

/** Reads a row that `insertTouches` wrote. */
export const toTouch = (row: TouchRow): Touch => ({
  at: row.at,
  kind: row.kind as TouchKind,
  linkId: row.link_id,
  clickId: row.click_id,
  referrer: row.referrer,
  landingUrl: row.landing_url,
  ...toCampaign(row),
})
