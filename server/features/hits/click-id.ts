// The name of a click outside: where it stands in which node's spool, signed so that nobody can claim another's.

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export interface ClickIds {
  /** `<id in base 36>.<node>.<signature>`, of a click on this node unless another is named. */
  write(id: number, itsNode?: string): string
  /** undefined for a forged or broken one. */
  read(text: string): { id: number; node: string } | undefined
}

// 60 bits: forging one takes 10^18 requests.
const SIGNATURE = 10

export function clickIds(secret: string, node: string): ClickIds {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'towpath click id', 32))
  const sign = (text: string) =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, SIGNATURE)
  return {
    write(id, itsNode = node) {
      const body = `${id.toString(36)}.${itsNode}`
      return `${body}.${sign(body)}`
    },
    read(text) {
      const [, body, id, itsNode, signature] =
        /^(([0-9a-z]{1,11})\.([0-9a-f]{16}))\.([\w-]{10})$/.exec(text) ?? []
      if (!body || !id || !itsNode || !signature) return undefined
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(body)))) return undefined
      return { id: Number.parseInt(id, 36), node: itsNode }
    },
  }
}
