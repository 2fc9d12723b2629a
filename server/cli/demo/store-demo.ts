// Stores the demo in the database in one transaction: everything is stored, or nothing.

import { createHash } from 'node:crypto'
import type { Insertable } from 'kysely'
import type { Actor } from '../../features/accounts/access/actor.ts'
import { addMember } from '../../features/accounts/workspaces/add-member.ts'
import { createWorkspace } from '../../features/accounts/workspaces/create-workspace.ts'
import { insertTouches } from '../../features/attribution/record-touches.ts'
import { createForm } from '../../features/forms/settings/change-form.ts'
import type { ClickIds } from '../../features/hits/click-id.ts'
import { createLink } from '../../features/links/create.ts'
import { creditLeads } from '../../features/links/credit-leads.ts'
import type { Site } from '../../features/links/link.ts'
import { createTag } from '../../features/links/tags/create-tag.ts'
import { Failure } from '../../lib/failure.ts'
import { orderedJson } from '../../lib/formats/ordered-json.ts'
import { toIso } from '../../lib/iso-time.ts'
import type { Plan } from '../../lib/plan.ts'
import { foldMarks } from '../../lib/text.ts'
import { toNestedDatabase } from '../../storage/database/nested-database.ts'
import type { Connection, Database, OnCommit } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import { DAY, DEMO_DAYS, type DemoHit, toUtmQuery } from './clicks.ts'
import { CHANNEL_SOURCES, COMPANY, FORM_NAMES, FORMS, type FormName, TAGS } from './company.ts'
import type { DemoOwner } from './find-owner.ts'
import type { DemoAttempts, DemoLead, DemoTouch } from './leads.ts'
import { DEMO_LINKS, type DemoLink, isOwnPage } from './links.ts'
import { type DemoOutcome, generateOutcomes } from './outcomes.ts'

export interface StoreNeeds {
  db: Database
  site: Site
  clickIds: Pick<ClickIds, 'sign'>
  node: string
  plan: Plan
  /** The current time of the demo. */
  now: number
}

export interface StoredDemo {
  workspaceId: number
  /** In the order of `DEMO_LINKS`. */
  linkIds: number[]
}

export function storeDemo(
  needs: StoreNeeds,
  owner: DemoOwner,
  leads: DemoLead[],
  attempts: DemoAttempts[],
): Promise<StoredDemo> {
  return needs.db.write(async (connection, onCommit) => {
    const db = toNestedDatabase(needs.db, connection, onCommit)
    const within = { ...needs, db }
    const before = { db, now: () => needs.now - (DEMO_DAYS + 30) * DAY }
    const { id } = await createWorkspace(before, { name: COMPANY, plan: needs.plan })
    await addMember(before, { workspaceId: id, email: owner.email, role: 'owner' })
    const actor: Actor = { kind: 'operator', workspaceId: id, plan: needs.plan, keyId: null }
    for (const [name, color] of TAGS) await createTag(before, actor, { name, color })
    const linkIds: number[] = []
    for (const [index, link] of DEMO_LINKS.entries())
      linkIds.push(await storeLink(within, actor, link, index))
    const formIds = await storeForms(within, connection, actor)
    const ids = await storeLeads(within, connection, onCommit, { workspaceId: id, linkIds, formIds, leads })
    await storeHandling(connection, { workspaceId: id, userId: owner.id, ids })
    await storeAttempts(connection, needs.now, formIds, attempts)
    return { workspaceId: id, linkIds }
  })
}

async function storeLink({ db, site, now }: StoreNeeds, actor: Actor, link: DemoLink, index: number) {
  const { url, title, tags, channel, campaign, content, term, comments, more, sent, ended } = link
  const { variants, splitDays } = link
  // A day before the link was sent. A link without such a day is older than its clicks.
  const at = now - (sent === undefined ? DEMO_DAYS + ((index * 7) % 28) : sent + 1) * DAY
  const source = CHANNEL_SOURCES[channel]
  const utm = source && {
    utmSource: source[0],
    utmMedium: source[1],
    utmCampaign: campaign,
    utmContent: content,
    utmTerm: term,
  }
  const input = {
    destinationUrl: url,
    title,
    comments,
    tagNames: tags,
    trackConversions: isOwnPage(link),
    expiresAt: ended === undefined ? undefined : toIso(now - ended * DAY),
    archived: ended !== undefined && ended > 10,
    split: variants?.map(({ keen: _, url: page, ...variant }) => ({
      ...variant,
      url: `${page}?${toUtmQuery(link)}`,
    })),
    splitEndsAt: splitDays === undefined ? undefined : toIso(now + splitDays * DAY),
    ...utm,
    ...more,
  }
  const needs = { db, site, now: () => at }
  // A second demo has the same links under other slugs.
  for (const slug of [link.slug, `${link.slug}-${actor.workspaceId}`]) {
    try {
      return (await createLink(needs, actor, { ...input, slug })).id
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'conflict')) throw error
    }
  }
  return (await createLink(needs, actor, input)).id
}

type FormIds = Record<FormName, number>

async function storeForms(
  { db, site, now }: StoreNeeds,
  connection: Connection,
  actor: Actor,
): Promise<FormIds> {
  const ids: Partial<FormIds> = {}
  for (const [index, name] of FORM_NAMES.entries()) {
    const { page: pageUrl, share: _, ...input } = FORMS[name]
    const hosted = { pageUrl, afterSubmit: 'hosted', onError: 'hosted' } as const
    const at = now - (DEMO_DAYS + 14 - index) * DAY
    const needs = {
      db,
      origin: site.origin,
      now: () => at,
      isBlocked: site.isBlocked,
      canMail: false,
      canStoreFiles: () => true,
    }
    const { formKey } = await createForm(needs, actor, { ...input, ...hosted })
    const { id } = await connection
      .selectFrom('forms')
      .select('id')
      .where('workspace_id', '=', actor.workspaceId)
      .where('form_key', '=', formKey)
      .executeTakeFirstOrThrow()
    ids[name] = id
  }
  return ids as FormIds
}

interface Leads {
  workspaceId: number
  linkIds: number[]
  formIds: FormIds
  leads: DemoLead[]
}

/** Stores submissions as features/forms/endpoint/store-submission.ts does, with their attribution at once. */
async function storeLeads(
  { clickIds, node, now }: StoreNeeds,
  connection: Connection,
  onCommit: OnCommit,
  { workspaceId, linkIds, formIds, leads }: Leads,
) {
  const toLinkId = (click: DemoHit | null) => (click ? (linkIds[click.link] ?? null) : null)
  const toClickId = (click: DemoHit | null) => {
    if (!click) return null
    const { id, link, variant } = click
    return clickIds.sign({ id, linkId: linkIds[link] as number, workspaceId, node, variant })
  }
  const toTouch = ({ click, ...touch }: DemoTouch) => ({
    ...touch,
    linkId: toLinkId(click),
    clickId: toClickId(click),
  })
  const ids = new Map<DemoLead, number>()
  const touched: Parameters<typeof insertTouches>[2] = []
  const credits = new Map<number, number>()
  for (const lead of leads) {
    const touches = lead.touches.map(toTouch)
    const { id } = await connection
      .insertInto('submissions')
      .values({
        ...toColumns(lead),
        workspace_id: workspaceId,
        form_id: formIds[lead.form],
        duplicate_of: lead.again ? (ids.get(lead.again) ?? null) : null,
        link_id: toLinkId(lead.click),
        click_id: toClickId(lead.click),
        event_id: lead.landing && `${lead.landing.id.toString(36)}.${node}`,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    ids.set(lead, id)
    touched.push({ id, touches })
    const credited = touches.at(-1)?.linkId
    const isLead = lead.again === undefined && lead.status !== 'spam'
    if (isLead && typeof credited === 'number') credits.set(credited, (credits.get(credited) ?? 0) + 1)
  }
  await insertTouches(connection, workspaceId, touched)
  await storeOutcomes(connection, workspaceId, generateOutcomes(leads, now), ids)
  for (const [linkId, count] of [...credits].sort(([a], [b]) => a - b)) {
    await creditLeads(connection, onCommit, { workspaceId, linkId, leads: count })
  }
  return ids
}

async function storeOutcomes(
  connection: Connection,
  workspaceId: number,
  outcomes: DemoOutcome[],
  ids: Map<DemoLead, number>,
) {
  const rows = outcomes.map(({ lead, at, ...outcome }) => ({
    ...outcome,
    workspace_id: workspaceId,
    submission_id: ids.get(lead) as number,
    at,
    created_at: at,
    updated_at: at,
  }))
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    await connection
      .insertInto('outcomes')
      .values(rows.slice(from, from + ROWS_PER_STATEMENT))
      .execute()
}

interface Handling {
  workspaceId: number
  userId: number
  ids: Map<DemoLead, number>
}

/** The owner has the wholesale leads, and has answered some of the requests. */
async function storeHandling(connection: Connection, { workspaceId, userId, ids }: Handling) {
  const assignees: Insertable<Tables['submission_assignees']>[] = []
  const replies: Insertable<Tables['team_replies']>[] = []
  for (const [lead, id] of ids) {
    const of = { workspace_id: workspaceId, submission_id: id }
    if (lead.form === 'wholesale') assignees.push({ ...of, user_id: userId })
    if (lead.form !== 'contact' || lead.status !== 'read' || id % 3 > 0) continue
    const [, name = ''] = lead.fields.find(([field]) => field === 'name') ?? []
    const text = `Hi ${name.split(' ')[0]},\n\nthanks for your message. We’ve looked into it, and you’ll hear from us tomorrow.`
    const about = { author: 'Mara', subject: 'Re: Contact', text, status: 'delivered' }
    replies.push({ ...of, ...about, created_at: lead.at + 3 * 60 * 60_000 })
  }
  if (assignees.length > 0) await connection.insertInto('submission_assignees').values(assignees).execute()
  if (replies.length > 0) await connection.insertInto('team_replies').values(replies).execute()
}

function toColumns(lead: DemoLead) {
  const { at, person, fields, form, click, landing, touches } = lead
  const source = touches.at(-1)
  const text = orderedJson(fields)
  return {
    fields: text,
    search_text: foldMarks(fields.map(([, value]) => value).join('\n')),
    status: lead.status,
    notes: lead.notes,
    email: fields.find(([name]) => name === 'email')?.[1] ?? null,
    fingerprint: createHash('sha256').update(`${person.visitor}|${text}`).digest('hex'),
    visitor: person.visitor,
    session_linked: Number(landing !== null),
    attribution: click ? lead.attribution : 'none',
    attribution_due: 0,
    referrer: source?.referrer ?? null,
    page_url: FORMS[form].page,
    landing_url: touches[0]?.landingUrl ?? null,
    utm_source: source?.utmSource ?? null,
    utm_medium: source?.utmMedium ?? null,
    utm_campaign: source?.utmCampaign ?? null,
    utm_term: source?.utmTerm ?? null,
    utm_content: source?.utmContent ?? null,
    device: person.agent.device,
    browser: person.agent.browser,
    os: person.agent.os,
    country: person.place.country,
    region: person.place.region,
    city: person.place.city,
    created_at: at,
  } satisfies Partial<Insertable<Tables['submissions']>>
}

/** A statement can have a few thousand values. */
const ROWS_PER_STATEMENT = 200

async function storeAttempts(connection: Connection, now: number, formIds: FormIds, all: DemoAttempts[]) {
  const rows = all.map(({ form, daysAgo, outcome, field, attempts }) => ({
    form_id: formIds[form],
    day: toIso(now - daysAgo * DAY).slice(0, 10),
    outcome,
    field,
    attempts,
  }))
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    await connection
      .insertInto('form_attempts')
      .values(rows.slice(from, from + ROWS_PER_STATEMENT))
      .execute()
  }
}
