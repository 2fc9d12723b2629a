import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { measureProcessorMs } from '../../../tests/support/processor-time.ts'
import { atScale } from '../../../tests/support/suite.ts'
import { CLOSED_NAMES } from '../../storage/clients/closed-names.ts'
import { parseUserAgent } from './user-agent.ts'
import { BOT_USER_AGENTS, BROWSER_USER_AGENTS } from './user-agents.fixture.ts'

describe('parseUserAgent names device, browser and system', () => {
  test.each(BROWSER_USER_AGENTS)('%s', (userAgent, device, browser, os) => {
    expect(parseUserAgent(userAgent)).toEqual({ bot: false, device, browser, os })
  })
})

describe('parseUserAgent recognizes a bot', () => {
  test.each(BOT_USER_AGENTS)('"%s"', (userAgent) => expect(parseUserAgent(userAgent).bot).toBe(true))
})

describe('people in apps, on televisions and on phones with odd names are people', () => {
  const KHTML = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  test.each([
    `Mozilla/5.0 (Linux; Android 12; LGE-AN10 Build/HONORLGE-AN10; wv) ${KHTML} Version/4.0 Chrome/86.0.4240.99 XWEB/4317 MMWEBSDK/20220604 Mobile Safari/537.36 MMWEBID/2011 MicroMessenger/8.0.24.2180(0x28001851) WeChat/arm64 Weixin NetType/WIFI Language/zh_CN ABI/arm64 Process/tools`,
    `Mozilla/5.0 (Linux; Android 5.1.1; ivvi SS1-03 Build/LMY47V; wv) ${KHTML} Version/4.0 Chrome/68.0.3440.106 Mobile Safari/537.36 AWP/2.0 SogouMSE,SogouMobileBrowser/6.1.54`,
    `Mozilla/5.0 (Linux; Android 6.0; VR BOT 552) ${KHTML} Chrome/72.0.3626.121 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 5.1; Discovery 108C) ${KHTML} Chrome/75.0.3770.89 Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 13; Spider 8) ${KHTML} Chrome/124.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 8.1.0; Capture+) ${KHTML} Chrome/80.0.3987.87 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; U; Android 4.2.2; it-it; S222 Build/CUBOT) ${KHTML} Version/4.0 Mobile Safari/534.30`,
    'Mozilla/5.0 (compatible; MSIE 9.0; Windows Phone OS 7.5; Trident/5.0; IEMobile/9.0; HTC; Radar 4G)',
    `Mozilla/5.0 (Linux armv7l) ${KHTML} Chrome/84.0.4147.140 Safari/537.36 OPR/46.0.2207.0 OMI/4.21.4.112.Catcher4.69 Model/Hisense-MT9602 VIDAA/5.0(Hisense;SmartTV;55A52FEVS)`,
    `Zeasn/2.0 NETTV/4.5.0 Mozilla/5.0 (Linux armv7i;CE-HTML/1.0;U;en), Chrome/42.0.2311.152 Safari/537.36 AppleWebKit 537.36 (KHTML, like Gecko) Tbrowser/2.0`,
    'Opera/9.80 (Linux mips; HbbTV/1.2.1 (; Freesat/1.0; hdr1000s; 1.0.0; 1.0.0; wired); ce-html/1.0) Presto/2.12.407 Version/12.50',
    'Mozilla/5.0 (SAMSUNG; SAMSUNG-GT-S8500/S8500XXJF4; U; Bada/1.0; fr-fr) AppleWebKit/533.1 (KHTML, like Gecko) Dolfin/2.0 Mobile',
    `Mozilla/5.0 (Linux; Android 15; Pixel 8 Pro) ${KHTML} Version/4.0 Chrome/137.0 Mobile Safari/537.36 [FBAN/FB4A;FBMF/Google;FBBD/google;FBDV/Pixel 8 Pro]`,
    'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; QQDownload 691; .NET CLR 2.0.50727)',
  ])('%s', (userAgent) => expect(parseUserAgent(userAgent).bot).toBe(false))
})

describe('a robot that dresses as a phone or an app is a robot', () => {
  test.each([
    'Mozilla/5.0 (Linux; Android 8.0; Pixel 2 Build/OPD3.170816.012; Storebot-Google/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/81.0.4044.138 Mobile Safari/537.36',
    'Mozilla/5.0 (Windows Phone 8.1; ARM; Trident/7.0; Touch; IEMobile/11.0; NOKIA; Lumia 530) like Gecko (compatible; adidxbot/2.0; +http://www.bing.com/bingbot.htm)',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 13_1_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/7.0.12(0x17000c2f) NetType/4G Language/zh_CN wechatdevtools qcloudcdn-xinan',
    'Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
    'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.12026; Pro)',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X) Word/14.48.0',
    'Microsoft Office Protocol Discovery',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/117.0.0.0 Safari/537.36 GTmetrix',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/60.0.3122.113 Safari/537.36 Assetnote/1.0.0',
    'Mozilla/5.0 (compatible; Barracuda Sentinel/1.0)',
    'Mozilla/5.0 (Windows NT; Windows NT 10.0; de-DE) WindowsPowerShell/5.1.19041.5737',
    'Mozilla/5.0 (compatible; Wappalyzer)',
  ])('%s', (userAgent) => expect(parseUserAgent(userAgent).bot).toBe(true))
})

test('No text of a visitor becomes a name', () => {
  for (const userAgent of [
    'Jane Doe, 5 Main Street',
    'jane@example.com/1.0',
    'Secret/1.0 (Jane; 555-1234) Gecko',
    'x'.repeat(128),
    '<script>alert(1)</script>',
    'MyBrowser/7 (MySystem 3)',
  ]) {
    const { device, browser, os } = parseUserAgent(userAgent)
    expect([userAgent, device, browser, os]).toEqual([userAgent, 'Other', 'Other', 'Other'])
  }
  expect(parseUserAgent('')).toEqual({ bot: true, device: null, browser: null, os: null })
})

test('parseUserAgent never throws and is quick, whatever the text', async () => {
  const pieces = [...'();/ \u202e', 'Mozilla/5.0 ', 'Version/', 'Chrome/1', 'Android', '9'.repeat(99)]
  const strange = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 512 }),
    fc.array(fc.constantFrom(...pieces), { maxLength: 80 }).map((each) => each.join('').slice(0, 512)),
  )
  await fc.assert(
    fc.asyncProperty(strange, async (userAgent) => {
      expect(await measureProcessorMs(() => parseUserAgent(userAgent))).toBeLessThan(2_000)
      const { browser, os, device } = parseUserAgent(userAgent)
      if (browser !== null) expect(CLOSED_NAMES.browser as readonly string[]).toContain(browser)
      if (os !== null) expect(CLOSED_NAMES.os as readonly string[]).toContain(os)
      if (device !== null) expect(CLOSED_NAMES.device as readonly string[]).toContain(device)
    }),
    { numRuns: atScale({ quick: 50, full: 500, soak: 500 }) },
  )
})
