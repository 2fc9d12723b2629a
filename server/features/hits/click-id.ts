// The public id of a click: its position in a node's spool and its link, signed for the link's workspace. The signature
// keeps a workspace from claiming the click of another, and the link is known without a look-up.

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
  /** Makes `<id in base 36>.<link in base 36>.<node>.<signature>`. The node is this one by default. */
  sign(click: Omit<Click, 'node'> & { workspaceId: number; node?: string }): string
  /** undefined for a forged or damaged text, and for a click on another workspace's link. */
  verify(text: string, workspaceId: number): Click | undefined
}

// 60 bits: forging a signature takes 10^18 requests.
const SIGNATURE_LENGTH = 10
const CLICK_ID_PATTERN = /^(([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-f]{16}))\.([\w-]{10})$/

export function createClickIds(secret: string, ownNode: string): ClickIds {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'towpath click id', 32))
  const toSignature = (body: string, workspaceId: number) =>
    createHmac('sha256', key).update(`${workspaceId}|${body}`).digest('base64url').slice(0, SIGNATURE_LENGTH)
  return {
    sign({ id, linkId, workspaceId, node = ownNode }) {
      const body = `${id.toString(36)}.${linkId.toString(36)}.${node}`
      return `${body}.${toSignature(body, workspaceId)}`
    },
    verify(text, workspaceId) {
      const [, body, id, linkId, node, signature] = CLICK_ID_PATTERN.exec(text) ?? []
      if (!body || !id || !linkId || !node || !signature) return undefined
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(toSignature(body, workspaceId))))
        return undefined
      return { id: Number.parseInt(id, 36), node, linkId: Number.parseInt(linkId, 36) }
    },
  }
}
