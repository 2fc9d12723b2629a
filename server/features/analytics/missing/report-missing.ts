// Mails the owners of a workspace when people ask for an unknown slug more often than the workspace has chosen. A slug is
// reported once in 24 hours, and a workspace gets five mails in that time.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { toShortUrl } from '../../../lib/web-url.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type OwnersMailNeeds, sendToOwners } from '../../accounts/workspaces/mail-owners.ts'
import { findMissedNeighbors, listMissed, type MissedSlug } from './answer-missing.ts'
import { createLookUpBudget } from './closest-slug.ts'

export interface ReportNeeds extends OwnersMailNeeds {
  db: Database
  now: () => number
  origin: string
}

interface WatchedWorkspace {
  id: number
  /** More requests of people than this in 24 hours are reported. */
  above: number
}

const HOUR_MS = 60 * 60 * 1000
const SLUGS_PER_MAIL = 20
const MAILS_PER_DAY = 5

export async function reportMissing(needs: ReportNeeds): Promise<void> {
  // A report that nobody gets is due when there is a mail server.
  if (!needs.sendMail) return
  const since = needs.now() - DAY_MS
  await needs.db.write((connection) =>
    connection.deleteFrom('missing_reports').where('reported_at', '<=', since).execute(),
  )
  for (const workspace of await listWatched(needs.db.read)) {
    await takeTurn()
    await reportWorkspace(needs, workspace)
  }
}

async function listWatched(connection: Connection): Promise<WatchedWorkspace[]> {
  const rows = await connection
    .selectFrom('workspaces')
    .select(['id', 'missing_report_above'])
    .where('missing_report_above', 'is not', null)
    .where('suspended_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.flatMap(({ id, missing_report_above: above }) => (above === null ? [] : [{ id, above }]))
}

async function reportWorkspace(needs: ReportNeeds, { id, above }: WatchedWorkspace): Promise<void> {
  const { db, now, origin } = needs
  if (!(await mayMail(db.read, id))) return
  const at = now()
  // The first hour counts whole, so the range is a day at most.
  const range = { start: at - DAY_MS + HOUR_MS, end: at + 1 }
  const { slugs } = await listMissed({ db }, { workspaceId: id }, range, () => true)
  const found = await describeNew(
    needs,
    id,
    slugs.filter(({ hits }) => hits > above),
  )
  const claimed = await claim(db, id, found, at)
  if (claimed.length === 0) return
  const sent = await sendToOwners(
    needs,
    id,
    toMissingMail({ origin, workspaceId: id, above, slugs: claimed }),
  )
  if (!sent) await release(db, id, at)
  log.info('missing_slugs_reported', { workspace: id, slugs: claimed.length, sent })
}

interface ReportedSlug {
  domain: string
  slugKey: string
  hits: number
  visitors: number
  /** The slug of the link that is most like it. */
  closest: string | null
}

interface MissingMail {
  origin: string
  workspaceId: number
  above: number
  slugs: ReportedSlug[]
}

/** A long slug is cut: its link to create it has all of it. */
const SHOWN_MAX = 120

/**
 * The email about unknown slugs that many people ask for. Strangers choose the slugs, so the email shows them as
 * addresses on our own domains, percent-encoded: no mail program makes a link to another site of one.
 */
function toMissingMail({ origin, workspaceId, above, slugs }: MissingMail) {
  const workspace = `${origin}/app/${workspaceId}`
  const show = (domain: string, slug: string) => {
    const url = toShortUrl({ origin }, { domain, slug })
    return url.length > SHOWN_MAX ? `${url.slice(0, SHOWN_MAX)}…` : url
  }
  const defaultDomain = new URL(origin).host
  const toEditor = (domain: string, slug: string) =>
    `${workspace}/links/missing?${new URLSearchParams({ slug, domain: domain || defaultDomain })}`
  const describe = ({ domain, slugKey, hits, visitors, closest }: ReportedSlug) => [
    show(domain, slugKey),
    `  Asked for ${hits} times, by ${visitors === 1 ? '1 visitor' : `${visitors} visitors`}.`,
    closest === null ? '  No similar link.' : `  Similar link: ${show(domain, closest)}`,
    `  Create it: ${toEditor(domain, slugKey)}`,
    '',
  ]
  return {
    subject: 'Frequent 404s on your short links',
    text: [
      `In the last 24 hours, people opened a short link that doesn’t exist more than ${above} times.`,
      '',
      ...slugs.flatMap(describe),
      'All 404s, and the setting for this email:',
      `${workspace}/links/missing`,
      '',
    ].join('\n'),
  }
}

async function mayMail(connection: Connection, workspaceId: number): Promise<boolean> {
  const mails = await connection
    .selectFrom('missing_reports')
    .select('reported_at')
    .distinct()
    .where('workspace_id', '=', workspaceId)
    .execute()
  return mails.length < MAILS_PER_DAY
}

/** The unreported slugs that still have no link: as many as fit into an email. */
async function describeNew(
  needs: ReportNeeds,
  workspaceId: number,
  frequent: MissedSlug[],
): Promise<ReportedSlug[]> {
  const reported = await needs.db.read
    .selectFrom('missing_reports')
    .select(['domain', 'slug'])
    .where('workspace_id', '=', workspaceId)
    .execute()
  const names = new Set(reported.map(({ domain, slug }) => `${domain}/${slug}`))
  const budget = createLookUpBudget()
  const found: ReportedSlug[] = []
  for (const missed of frequent) {
    if (found.length === SLUGS_PER_MAIL) break
    if (names.has(`${missed.domain}/${missed.slugKey}`)) continue
    const { linkId, closest } = await findMissedNeighbors(needs, { workspaceId }, missed, budget)
    if (linkId === null) found.push({ ...missed, closest: closest?.slug ?? null })
  }
  return found
}

/** Notes the slugs before the mail is sent, so that two nodes, and a node that is killed, never report one twice. */
async function claim(
  db: Database,
  workspaceId: number,
  slugs: ReportedSlug[],
  at: number,
): Promise<ReportedSlug[]> {
  if (slugs.length === 0) return []
  const claimed = await db.write((connection) =>
    connection
      .insertInto('missing_reports')
      .values(
        slugs.map(({ domain, slugKey: slug }) => ({
          workspace_id: workspaceId,
          domain,
          slug,
          reported_at: at,
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning(['domain', 'slug'])
      .execute(),
  )
  return slugs.filter(({ domain, slugKey }) =>
    claimed.some((row) => row.domain === domain && row.slug === slugKey),
  )
}

/** The mail server did not take the mail: the next run tries again. */
async function release(db: Database, workspaceId: number, at: number): Promise<void> {
  await db.write((connection) =>
    connection
      .deleteFrom('missing_reports')
      .where('workspace_id', '=', workspaceId)
      .where('reported_at', '=', at)
      .execute(),
  )
}
