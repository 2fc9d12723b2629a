// The public id of a click: its position in a node's spool, its link and its variant, signed for the link's workspace. So a
// workspace cannot claim the click of another, and link and variant are known without a look-up.

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The parameter that carries a click to the landing page. */
export const CLICK_ID_PARAMETER = 'tp_cid'

export interface Click {
  /** See `toHitId`. */
  id: number
  node: string
  linkId: number
}

export interface ClickIds {
  /**
   * Returns `<id in base 36>.<link in base 36>.<node>.<signature>`, with the variant of a split in base64url before the
   * signature. The default node is this one.
   */
  sign(click: Omit<Click, 'node'> & { workspaceId: number; node?: string; variant?: string | null }): string
  /** undefined for a forged or damaged text, and for a click on another workspace's link. */
  verify(text: string, workspaceId: number): Click | undefined
}

// 60 bits: forging a signature takes 10^18 requests.
const SIGNATURE_LENGTH = 10
// A label has at most 40 characters of four bytes.
const CLICK_ID_PATTERN =
  /^(([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-f]{16})(?:\.([\w-]{1,214}))?)\.([\w-]{10})$/

/** @returns the label of the variant in a verified click id; null without one */
export function readClickVariant(clickId: string | null): string | null {
  const encoded = clickId === null ? undefined : CLICK_ID_PATTERN.exec(clickId)?.[5]
  return encoded === undefined ? null : Buffer.from(encoded, 'base64url').toString()
}

export function createClickIds(secret: string, ownNode: string): ClickIds {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'towpath click id', 32))
  const toSignature = (body: string, workspaceId: number) =>
    createHmac('sha256', key).update(`${workspaceId}|${body}`).digest('base64url').slice(0, SIGNATURE_LENGTH)
  return {
    sign({ id, linkId, workspaceId, node = ownNode, variant }) {
      const label = variant ? `.${Buffer.from(variant).toString('base64url')}` : ''
      const body = `${id.toString(36)}.${linkId.toString(36)}.${node}${label}`
      return `${body}.${toSignature(body, workspaceId)}`
    },
    verify(text, workspaceId) {
      const [, body, id, linkId, node, , signature] = CLICK_ID_PATTERN.exec(text) ?? []
      if (!body || !id || !linkId || !node || !signature) return undefined
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(toSignature(body, workspaceId))))
        return undefined
      return { id: Number.parseInt(id, 36), node, linkId: Number.parseInt(linkId, 36) }
    },
  }
}
