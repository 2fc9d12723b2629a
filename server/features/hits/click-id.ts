// The name of a click outside: where it stands in which node's spool and which link it was on, signed for the link's
// workspace, so that nobody can claim another's and nobody need be asked what was clicked.

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
  /** `<id in base 36>.<link in base 36>.<node>.<signature>`, of a click on this node unless another is named. */
  sign(click: Omit<Click, 'node'> & { workspaceId: number; node?: string }): string
  /** undefined for a forged or broken one, and for a click on another workspace's link. */
  verify(text: string, workspaceId: number): Click | undefined
}

// 60 bits: forging one takes 10^18 requests.
const SIGNATURE_LENGTH = 10
const CLICK_ID_PATTERN = /^(([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-f]{16}))\.([\w-]{10})$/

export function createClickIds(secret: string, itsNode: string): ClickIds {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'towpath click id', 32))
  const sign = (body: string, workspaceId: number) =>
    createHmac('sha256', key).update(`${workspaceId}|${body}`).digest('base64url').slice(0, SIGNATURE_LENGTH)
  return {
    sign({ id, linkId, workspaceId, node = itsNode }) {
      const body = `${id.toString(36)}.${linkId.toString(36)}.${node}`
      return `${body}.${sign(body, workspaceId)}`
    },
    verify(text, workspaceId) {
      const [, body, id, linkId, node, signature] = CLICK_ID_PATTERN.exec(text) ?? []
      if (!body || !id || !linkId || !node || !signature) return undefined
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(body, workspaceId)))) return undefined
      return { id: Number.parseInt(id, 36), node, linkId: Number.parseInt(linkId, 36) }
    },
  }
}
