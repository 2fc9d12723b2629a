// POST /f/{formKey}, open to everybody (contract §7).

import type { Network } from '../../lib/cidr.ts'
import type { Rows } from '../../storage/rows/open.ts'
import type { RateLimiter } from '../accounts/limits.ts'
import type { DescribeSender } from '../attribution/sender.ts'
import type { Captcha } from './captcha.ts'

export interface FormEndpointNeeds {
  rows: Rows
  origin: string
  trustProxy: Network[]
  limiter: RateLimiter
  captcha: Captcha
  describeSender: DescribeSender
  now: () => number
}

type Peer = { requestIP(request: Request): { address: string } | null }

/** @returns the handler for every method and for whatever follows `/f` in the path, decoded or not */
export function formEndpoint(_needs: FormEndpointNeeds) {
  return async (_request: Request, _server: Peer, _formKey: string): Promise<Response> =>
    Response.json({ error: 'Form not found' }, { status: 404 })
}
