import { expect, test } from 'bun:test'
import {
  type ListedUserAgent,
  listCrawlers,
  listDevices,
  listTestSets,
  listVisitors,
} from '../../../tests/support/user-agent-lists.ts'
import { isBot } from './is-bot.ts'
import { parseUserAgent } from './user-agent.ts'

const rate = <T>(list: T[], isCounted: (each: T) => boolean) => list.filter(isCounted).length / list.length
const callsBot = ({ userAgent }: ListedUserAgent) => isBot(userAgent)

test('at least 99.5 % of known crawlers are bots', () => {
  expect(rate(listCrawlers(), callsBot)).toBeGreaterThanOrEqual(0.995)
})

test('at most 0.2 % of visitors and devices of public lists are called bots', () => {
  // Every seventh visitor: the whole list takes three times as long.
  const people = [...listVisitors().filter((_, index) => index % 7 === 0), ...listDevices()]
  expect(rate(people, callsBot)).toBeLessThanOrEqual(0.002)
})

test('at least 95 % of devices are named as public lists name them', () => {
  const listed = [...listTestSets(), ...listDevices()].filter(
    ({ bot, device }) => !bot && device !== undefined,
  )
  const isRight = ({ userAgent, device }: ListedUserAgent) => parseUserAgent(userAgent).device === device
  expect(rate(listed, isRight)).toBeGreaterThanOrEqual(0.95)
})

test.each([
  ['Mozilla/4.0 (compatible; MSIE 4.01; Digital AlphaServer 1000A 4/233; Windows NT)', false],
  ['Mozilla/4.61 [en] (X11; U; ) - BrowseX (2.0.0 Windows)', false],
  ['Mozilla/4.7 (compatible; OffByOne; Windows 2000) Webster Pro V3.4', false],
  ['CitrixReceiver WTOS/1.0', false],
  ['Mozilla/5.0 (compatible; BrowseXbot/1.0; +https://bot.example/)', true],
  [
    'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.1; Microsoft Outlook 14.0.7113; ms-office; MSOffice 14)',
    true,
  ],
  ['server-bag [macOS,11.6.1,20G224,MacBookAir6,2]', true],
])('%s is called a bot: %p', (userAgent, bot) => expect(isBot(userAgent)).toBe(bot))
