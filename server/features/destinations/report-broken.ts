// Mails the owners of a workspace the destinations that stay broken, with all links that lead to them. A destination is
// reported once, and again only after it was well; a workspace gets five mails of twenty destinations a day.

import { log } from '../../lib/log.ts'
import { DAY_MS } from '../../lib/utc-day.ts'
import { toShortUrl } from '../../lib/web-url.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import { type OwnersMailNeeds, sendToOwners } from '../accounts/workspaces/mail-owners.ts'
import { FAILURES_TO_TELL, TELL_AFTER_MS, toStoredState } from './judge-check.ts'
import { listLinkUrls } from './link-urls.ts'
import { scanLinksOfWorkspace } from './scan-links-of-workspace.ts'

export interface BrokenReportNeeds extends OwnersMailNeeds {
  db: Database
  now: () => number
  origin: string
}

interface BrokenDestination {
  id: number
  url: string
  message: string | null
  since: number | null
}

const PER_MAIL = 20
const MAILS_PER_DAY = 5
const LINKS_SHOWN = 100
const URL_SHOWN_MAX = 300
const TOLD_STATES = [toStoredState('broken'), toStoredState('parked')]

export async function reportBroken(needs: BrokenReportNeeds, workspaceId: number): Promise<void> {
  // A report that nobody gets is due when there is a mail server.
  if (!needs.sendMail) return
  const at = needs.now()
  const found = await listUnreported(needs.db.read, workspaceId)
  if (found.length === 0 || !(await mayMail(needs.db.read, workspaceId, at))) return
  const links = await findLinksTo(needs, workspaceId, found)
  const claimed = await claim(needs.db, workspaceId, found, at)
  // Another person may have changed the links since they were counted.
  const told = claimed.filter(({ url }) => links.has(url))
  if (told.length === 0) return
  const sent = await sendToOwners(needs, workspaceId, toMail(needs, workspaceId, told, links))
  if (!sent) await release(needs.db, workspaceId, at)
  log.info('broken_destinations_reported', { workspace: workspaceId, destinations: told.length, sent })
}

const listUnreported = (connection: Connection, workspaceId: number): Promise<BrokenDestination[]> =>
  connection
    .selectFrom('destinations')
    .select(['id', 'url', 'message', 'since'])
    .where('workspace_id', '=', workspaceId)
    .where('state', 'in', TOLD_STATES)
    .where('reported_at', 'is', null)
    .where('failures', '>=', FAILURES_TO_TELL)
    .where((e) => e(e('checked_at', '-', e.ref('since')), '>=', TELL_AFTER_MS))
    .orderBy('id')
    .limit(PER_MAIL)
    .execute()

async function mayMail(connection: Connection, workspaceId: number, at: number): Promise<boolean> {
  const mails = await connection
    .selectFrom('destinations')
    .select('reported_at')
    .distinct()
    .where('workspace_id', '=', workspaceId)
    .where('reported_at', '>', at - DAY_MS)
    .execute()
  return mails.length < MAILS_PER_DAY
}

/** The short URLs of the live links to each URL. */
async function findLinksTo(
  { db, now, origin }: BrokenReportNeeds,
  workspaceId: number,
  found: BrokenDestination[],
): Promise<Map<string, string[]>> {
  const urls = new Set(found.map(({ url }) => url))
  const links = new Map<string, string[]>()
  for await (const link of scanLinksOfWorkspace(db.read, workspaceId, 'live'))
    for (const url of listLinkUrls(link, now()))
      if (urls.has(url)) links.set(url, [...(links.get(url) ?? []), toShortUrl({ origin }, link)])
  return links
}

/** Notes the report before the mail is sent, so that a node that is killed never tells twice. */
async function claim(
  db: Database,
  workspaceId: number,
  found: BrokenDestination[],
  at: number,
): Promise<BrokenDestination[]> {
  const claimed = await db.write((connection) =>
    connection
      .updateTable('destinations')
      .set({ reported_at: at })
      .where('workspace_id', '=', workspaceId)
      .where('reported_at', 'is', null)
      .where(
        'id',
        'in',
        found.map(({ id }) => id),
      )
      .returning('id')
      .execute(),
  )
  return found.filter(({ id }) => claimed.some((row) => row.id === id))
}

/** The mail server did not take the mail: the next run tries again. */
async function release(db: Database, workspaceId: number, at: number): Promise<void> {
  await db.write((connection) =>
    connection
      .updateTable('destinations')
      .set({ reported_at: null })
      .where('workspace_id', '=', workspaceId)
      .where('reported_at', '=', at)
      .execute(),
  )
}

function toMail(
  { origin }: BrokenReportNeeds,
  workspaceId: number,
  told: BrokenDestination[],
  links: Map<string, string[]>,
) {
  const page = `${origin}/app/${workspaceId}/links/destinations`
  const count = (n: number, what: string) => (n === 1 ? `1 ${what}` : `${n} ${what}s`)
  const describe = ({ url, message, since }: BrokenDestination) => {
    const found = links.get(url) ?? []
    return [
      url.length > URL_SHOWN_MAX ? `${url.slice(0, URL_SHOWN_MAX)}…` : url,
      ...(message === null ? [] : [`  ${message}`]),
      ...(since === null
        ? []
        : [`  Since ${new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC.`]),
      `  ${count(found.length, 'link')}:`,
      ...found.slice(0, LINKS_SHOWN).map((link) => `  ${link}`),
      ...(found.length > LINKS_SHOWN ? [`  … and ${found.length - LINKS_SHOWN} more`] : []),
      '',
    ]
  }
  return {
    subject:
      told.length === 1
        ? 'A destination of your links is broken'
        : `${told.length} destinations of your links are broken`,
    text: [
      `Visitors of your short links can’t open ${told.length === 1 ? 'this page' : 'these pages'}: three checks or more have failed over at least a day.`,
      '',
      ...told.flatMap(describe),
      'Repair all links of a destination at once, or turn this email off:',
      page,
      '',
    ].join('\n'),
  }
}
