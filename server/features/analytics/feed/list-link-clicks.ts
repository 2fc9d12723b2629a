// Pages through the clicks of a link in the order of their arrival at the hit engine: each click once, late ones too.

import { invalid } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { StorePosition } from '../../../storage/hits/hit-engine.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { HitWorkerClient } from '../../hits/worker/client.ts'
import { getLink } from '../../links/get.ts'
import { toClickRow } from './click-row.ts'
import { type ClickFeed, type ClickFeedInput, FEED_LIMIT } from './schema.ts'

export interface LinkClicksNeeds {
  db: Database
  hits: Pick<HitWorkerClient, 'readClicks'>
  defaultDomain: string
}

/** @throws Failure `not_found`, `invalid` for an `after` of another link; `unavailable` */
export async function listLinkClicks(
  { db, hits, defaultDomain }: LinkClicksNeeds,
  actor: Actor,
  id: number,
  { after: written, limit = FEED_LIMIT, class: classes = ['human'] }: ClickFeedInput,
): Promise<ClickFeed> {
  const link = await getLink(db.read, actor, id)
  const after = written === undefined ? {} : written === 'latest' ? written : decodePosition(written, id)
  if (after === undefined)
    throw invalid({ after: 'is not from an answer for this link; start again without it' })
  const { clicks, position } = await hits.readClicks({
    workspaceId: actor.workspaceId,
    linkId: id,
    classes,
    after,
    // One more says whether others follow.
    limit: limit + 1,
  })
  const page = clicks.slice(0, limit)
  const hasMore = clicks.length > limit
  const end = hasMore && after !== 'latest' ? toPosition(after, page) : position
  const names = { slug: link.slug, domain: link.domain || defaultDomain }
  return { data: page.map((click) => toClickRow(click, names)), after: encodePosition(end, id), hasMore }
}

/** A node's clicks come in the order of their ids. */
const toPosition = (after: StorePosition, clicks: { node: string; id: number }[]): StorePosition => ({
  ...after,
  ...Object.fromEntries(clicks.map(({ node, id }) => [node, id])),
})

const encodePosition = (position: StorePosition, linkId: number): string =>
  Buffer.from([linkId, ...Object.entries(position).map(([node, id]) => `${node}.${id}`)].join(' ')).toString(
    'base64url',
  )

const PLACE = /^([\w-]{1,64})\.(\d{1,16})$/

/** @returns undefined for a text that is none of this link */
function decodePosition(text: string, linkId: number): StorePosition | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined
  const [link, ...places] = Buffer.from(text, 'base64url').toString().split(' ')
  if (link !== String(linkId)) return undefined
  const read = places.map((place) => PLACE.exec(place))
  if (read.some((place) => !place || !Number.isSafeInteger(Number(place[2])))) return undefined
  return Object.fromEntries(read.map((place) => [place?.[1] as string, Number(place?.[2])]))
}
