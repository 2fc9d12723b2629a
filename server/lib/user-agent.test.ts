import { describe, expect, test } from 'bun:test'
import { deviceForTargeting, isPrefetch } from './user-agent.ts'

const cases: [string, string, ReturnType<typeof deviceForTargeting>][] = [
  ['iPhone', 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Mobile/15E148 Safari/604.1', 'ios'],
  ['iPad', 'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) Mobile/15E148 Safari/604.1', 'ios'],
  ['a web view on iPadOS', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Mobile/15E148', 'ios'],
  ['Mac', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/17.5 Safari/605.1.15', 'desktop'],
  ['Android phone', 'Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0 Mobile Safari/537.36', 'android'],
  ['Windows phone', 'Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft) Mobile iPhone', 'desktop'],
  ['Windows', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/126.0 Safari/537.36', 'desktop'],
  ['nothing', '', 'desktop'],
  [
    'MiPad',
    'Mozilla/5.0 (Linux; U; Android 4.4.4; zh-cn; MiPad Build/KTU84P) Chrome/61.0 Safari/537.36',
    'android',
  ],
  ['a MiPad without Android', 'Mozilla/5.0 (X11; Linux; MiPad) Safari/537.36', 'desktop'],
  ['iPhone clone', 'Mozilla/5.0 (Linux; Android 6.0; iPhone 8 Build/MRA58K) Mobile Safari/537.36', 'android'],
  ['HiPhone', 'HiPhone/1.0 (Linux) Safari/537.36', 'desktop'],
  ['iPod touch', 'Mozilla/5.0 (iPod touch; CPU iPhone OS 12_5 like Mac OS X) Mobile/16H71', 'ios'],
  ['an app on iPadOS', 'ReutersNews/6.0.3 iPad14,4 iPadOS/17.5.1 CFNetwork/1.0 Darwin/23.5.0', 'ios'],
  ['Instagram on an iPhone', 'Instagram 5.0.2 (iPhone5,1; iPhone OS 7_0_4; en_US; en)', 'ios'],
  ['Tizen', 'Mozilla/5.0 (Linux; Tizen 2.3 like Android; SAMSUNG SM-Z130H) Mobile Safari/537.3', 'desktop'],
  ['KaiOS', 'Mozilla/5.0 (Mobile; Nokia_8110_4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5', 'desktop'],
  ['UC Browser', 'UCWEB/2.0 (Linux; U; Adr 4.0.3; fr-FR; Transformer TF101) U2/1.0.0 Mobile', 'android'],
  ['Lumia', 'Mozilla/5.0 (Windows Phone 8.1; ARM) like iPhone OS 7_0_3 Mac OS X Mobile Android', 'desktop'],
]

describe('the device that targeting rules mean', () => {
  for (const [name, userAgent, device] of cases)
    test(`${name} is ${device}`, () => expect(deviceForTargeting(userAgent)).toBe(device))
})

describe('fetching ahead', () => {
  const said = (headers: Record<string, string>) => isPrefetch((name) => headers[name] ?? null)
  test('is recognized by each header that browsers have used', () => {
    expect(said({ 'sec-purpose': 'prefetch;prerender' })).toBe(true)
    expect(said({ 'sec-purpose': 'prefetch' })).toBe(true)
    expect(said({ purpose: 'prefetch' })).toBe(true)
    expect(said({ 'x-purpose': 'preview' })).toBe(true)
    expect(said({ 'x-moz': 'prefetch' })).toBe(true)
  })
  test('is not assumed for an ordinary request', () => {
    expect(said({})).toBe(false)
    expect(said({ purpose: 'navigation' })).toBe(false)
  })
})
