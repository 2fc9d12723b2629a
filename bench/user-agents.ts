// Rates of right answers about user agents, on the lists that npm packages carry: robots that are bots, people who are
// called bots, and devices: bun bench/user-agents.ts [<checkout of matomo-org/device-detector>]. `--misses` prints each
// mistake.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseUserAgent } from '../server/features/visitors/user-agent.ts'
import {
  type ListedUserAgent,
  listCrawlers,
  listDevices,
  listTestSets,
  listVisitors,
} from '../tests/support/user-agent-lists.ts'
import { print } from './harness.ts'

const LISTS: Record<string, () => ListedUserAgent[]> = {
  'crawler-user-agents': listCrawlers,
  'user-agents': listVisitors,
  woothee: listTestSets,
  'random-useragent': listDevices,
}
/**
 * The fixtures of Matomo's device detector. Their license does not allow a copy here. Office checks links before
 * people open them.
 */
function listFixtures(checkout: string): Record<string, () => ListedUserAgent[]> {
  const dir = join(checkout, 'Tests/fixtures')
  const read = (name: RegExp, bot = false) =>
    readdirSync(dir)
      .filter((file) => name.test(file))
      .flatMap((file) => Bun.YAML.parse(readFileSync(join(dir, file), 'utf8')) as { user_agent: string }[])
      .map(({ user_agent: userAgent }) => ({ userAgent, bot }))
  const isOffice = ({ userAgent }: ListedUserAgent) => /ms-?office|^Microsoft Office\/\d/i.test(userAgent)
  return {
    'robots of device-detector': () => read(/^bots/, true),
    desktops: () => read(/^desktop/),
    'desktops without Office': () => read(/^desktop/).filter((each) => !isOffice(each)),
    phones: () => read(/^(smartphone|phablet|feature_phone)/),
    televisions: () => read(/^tv/),
    tablets: () => read(/^tablet/),
  }
}

const checkout = process.argv.slice(2).find((word) => !word.startsWith('--'))
const misses = process.argv.includes('--misses')
const toRate = (part: number, all: number) => (all === 0 ? '' : `${((100 * part) / all).toFixed(2)} %`)

print('| list | robots | called bots | people | called bots | devices | right | µs each |')
print('|---|--:|--:|--:|--:|--:|--:|--:|')
for (const [name, list] of Object.entries({ ...LISTS, ...(checkout ? listFixtures(checkout) : {}) })) {
  const listed = list()
  const before = process.cpuUsage()
  const parsed = listed.map((each) => ({ ...each, is: parseUserAgent(each.userAgent) }))
  const { user, system } = process.cpuUsage(before)
  const robots = parsed.filter(({ bot }) => bot)
  const people = parsed.filter(({ bot }) => !bot)
  const devices = people.filter(({ device }) => device !== undefined)
  const right = devices.filter(({ device, is }) => device === is.device)
  print(
    `| ${[
      name,
      robots.length,
      toRate(robots.filter(({ is }) => is.bot).length, robots.length),
      people.length,
      toRate(people.filter(({ is }) => is.bot).length, people.length),
      devices.length,
      toRate(right.length, devices.length),
      ((user + system) / parsed.length).toFixed(1),
    ].join(' | ')} |`,
  )
  if (misses)
    for (const { userAgent, bot, device, is } of parsed)
      if (bot !== is.bot || (device !== undefined && !bot && device !== is.device))
        print(bot === is.bot ? `${is.device} for ${device}` : is.bot ? 'bot' : 'human', userAgent)
}
