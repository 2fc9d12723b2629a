// One good request for every operation: what the tests here bend, or send with somebody else's key.

import type { TestWorkspace } from '../support/server.ts'
import type { Operation } from './document.ts'
import { jsonOf } from './hostile.ts'

/** What a workspace has when a request of it is about something. */
export interface Things {
  linkId: number
  otherLinkId: number
  slug: string
  externalId: string
  tagId: number
  tagName: string
}

export interface Sample {
  path?: Record<string, string | number>
  query?: Record<string, string>
  /** More than one where the document gives the body several forms. */
  bodies?: unknown[]
}

const TARGET = 'https://example.com/landing'

export const SAMPLES: Record<string, (things: Things) => Sample> = {
  listLinks: () => ({}),
  createLink: () => ({ bodies: [{ destinationUrl: TARGET }] }),
  createLinks: () => {
    const links = [{ destinationUrl: TARGET }]
    return { bodies: [links, { links }] }
  },
  updateLinks: ({ linkId, otherLinkId }) => {
    const links = [{ id: linkId, title: 'New' }, { id: otherLinkId }]
    return { bodies: [links, { links }, { ids: [linkId, otherLinkId], data: { title: 'New' } }] }
  },
  deleteLinks: ({ linkId, otherLinkId }) => ({ query: { ids: `${linkId},${otherLinkId}` } }),
  upsertLink: ({ externalId }) => ({ bodies: [{ destinationUrl: TARGET, externalId }] }),
  getLink: ({ linkId }) => ({ path: { id: linkId } }),
  updateLink: ({ linkId }) => ({ path: { id: linkId }, bodies: [{ title: 'New' }] }),
  deleteLink: ({ linkId }) => ({ path: { id: linkId } }),
  getLinkQr: ({ linkId }) => ({ path: { id: linkId } }),
  resolveLink: ({ linkId }) => ({ path: { id: linkId } }),
  listTags: () => ({}),
  createTag: ({ tagName }) => ({ bodies: [{ name: `${tagName} two` }] }),
  updateTag: ({ tagId, tagName }) => ({ path: { id: tagId }, bodies: [{ name: `${tagName} three` }] }),
  deleteTag: ({ tagId }) => ({ path: { id: tagId } }),
  countClicks: () => ({ query: { groupBy: 'link' } }),
  exportClicks: () => ({ query: { format: 'ndjson' } }),
}

export function sampleOf({ id }: Operation, things: Things): Sample {
  const sample = SAMPLES[id]
  if (!sample) throw new Error(`samples.ts has no request for ${id}: write one, the tests are made from it`)
  return sample(things)
}

/** The path with its ids and query, to be called below the origin. */
export function urlOf({ path }: Operation, sample: Sample): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => String(sample.path?.[name]))
  const query = new URLSearchParams(sample.query).toString()
  return query === '' ? filled : `${filled}?${query}`
}

/** The body as it is sent; undefined where the operation takes none. */
export const firstBody = ({ bodies }: Sample) => (bodies ? jsonOf(bodies[0]) : undefined)

/** @param mark a word that is in every text of these things, so that it is noticed wherever it should not be */
export async function thingsOf(workspace: TestWorkspace, mark: string): Promise<Things> {
  const tagName = `${mark} tag`
  const externalId = `${mark}-external`
  const link = await workspace.link({
    slug: `${mark}-slug`,
    destinationUrl: `https://${mark}.example/`,
    title: `${mark} title`,
    externalId,
    tagNames: [tagName],
  })
  const other = await workspace.link({ destinationUrl: `https://${mark}.example/other` })
  return {
    linkId: link.id,
    otherLinkId: other.id,
    slug: link.slug,
    externalId,
    tagId: link.tags[0].id,
    tagName,
  }
}
