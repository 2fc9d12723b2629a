// A raw hit for tests: a person on an iPhone.

import type { RawHit } from './raw-hit.ts'

export const IPHONE_USER_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

export const createRawHit = (change: Partial<RawHit> = {}): RawHit => ({
  at: Date.now(),
  workspaceId: 1,
  linkId: 7,
  outcome: 'redirect',
  head: false,
  prefetch: false,
  internal: false,
  ignored: false,
  trigger: 'link',
  address: '8.8.8.8',
  userAgent: IPHONE_USER_AGENT,
  referrer: '',
  query: '',
  destinationQuery: '',
  variant: '',
  ...change,
})
