// Fetches the image of a card for the dashboard. The dashboard loads nothing from other servers: its policy has no
// `https:` for images, and the editor's address stays private (docs/adr/0046-social-cards.md).

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { type FetchNeeds, fetchFollowing } from './fetch-following.ts'
import type { CardImageResource } from './schema.ts'

/** The types that X, Facebook and Slack show. SVG, which can hold scripts, is none of them. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
type ImageType = (typeof IMAGE_TYPES)[number]

/** The limit of X. */
const IMAGE_BYTES_MAX = 5 * 1024 * 1024

/** The first bytes as latin1 (https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern). */
const SIGNATURES: [type: ImageType, begins: string, at8: string][] = [
  ['image/png', '\x89PNG\r\n\x1a\n', ''],
  ['image/jpeg', '\xff\xd8\xff', ''],
  ['image/gif', 'GIF87a', ''],
  ['image/gif', 'GIF89a', ''],
  ['image/webp', 'RIFF', 'WEBPVP'],
]

/** Detects the type from the bytes, not from the server's header. @throws Failure `invalid`, `too_many` */
export async function fetchCardImage(
  needs: FetchNeeds,
  actor: Actor,
  address: string,
): Promise<CardImageResource> {
  allow(actor, 'links:write')
  return needs.limit(actor.workspaceId, async () => {
    const limits = { accept: IMAGE_TYPES.join(', '), maxBytes: IMAGE_BYTES_MAX }
    const fetched = await fetchFollowing(needs, address, limits)
    if ('code' in fetched) return refuse(fetched.code, fetched.message)
    const { body, cut } = fetched.answer
    if (cut === 'size') return refuse('too_large', 'It is larger than 5 MB: services do not show it.')
    if (cut) return refuse('unreachable', 'The image did not come to its end.')
    const type = findImageType(body)
    if (!type) return refuse('not_image', 'It is not a PNG, JPEG, GIF or WebP image.')
    return { dataUrl: `data:${type};base64,${Buffer.from(body).toString('base64')}`, findings: [] }
  })
}

const refuse = (code: string, message: string): CardImageResource => ({
  dataUrl: null,
  findings: [{ code, message }],
})

export function findImageType(body: Uint8Array): ImageType | undefined {
  const start = Buffer.from(body.subarray(0, 16)).toString('latin1')
  return SIGNATURES.find(([, begins, at8]) => start.startsWith(begins) && start.startsWith(at8, 8))?.[0]
}
