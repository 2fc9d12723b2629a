// The public lists of user agents that npm packages carry (development dependencies), with what each says of them.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ListedUserAgent {
  userAgent: string
  bot: boolean
  /** The device as `parseUserAgent` names it; undefined where the list does not say. */
  device?: string
}

const PACKAGES = join(import.meta.dir, '../../node_modules')
const readText = (path: string) => readFileSync(join(PACKAGES, path), 'utf8')

const DEVICES: Record<string, string> = {
  mobile: 'Mobile',
  mobilephone: 'Mobile',
  smartphone: 'Mobile',
  tablet: 'Tablet',
  desktop: 'Desktop',
  pc: 'Desktop',
  smarttv: 'TV',
  console: 'Console',
}

/** Instances of the patterns of crawler-user-agents (MIT). */
export const listCrawlers = (): ListedUserAgent[] =>
  (JSON.parse(readText('crawler-user-agents/crawler-user-agents.json')) as { instances?: string[] }[])
    .flatMap(({ instances = [] }) => instances)
    .map((userAgent) => ({ userAgent, bot: true }))

/** Visitors of many sites, measured: user-agents (BSD). */
export const listVisitors = (): ListedUserAgent[] =>
  (
    JSON.parse(readText('user-agents/dist/user-agents.json')) as {
      userAgent: string
      deviceCategory: string
    }[]
  ).map(({ userAgent, deviceCategory }) => ({ userAgent, bot: false, device: DEVICES[deviceCategory] }))

/** The test sets of woothee (Apache). */
export function listTestSets(): ListedUserAgent[] {
  const folder = 'woothee/woothee/testsets'
  return readdirSync(join(PACKAGES, folder)).flatMap((file) =>
    (Bun.YAML.parse(readText(`${folder}/${file}`)) as { target: string; category: string }[])
      .filter(({ category }) => category !== 'UNKNOWN' && category !== 'misc')
      .map(({ target, category }) => ({
        userAgent: target,
        bot: category === 'crawler',
        device: DEVICES[category],
      })),
  )
}

/** Browsers and devices of random-useragent (MIT). */
export const listDevices = (): ListedUserAgent[] =>
  (
    JSON.parse(readText('random-useragent/useragent-data.json')) as {
      folder: string
      userAgent: string
      deviceType: string
    }[]
  )
    .filter(({ folder }) => /^\/(?:Browsers|Mobile Devices)/.test(folder))
    .map(({ folder, userAgent, deviceType }) => ({
      userAgent,
      bot: false,
      device: DEVICES[folder.startsWith('/Browsers') ? 'desktop' : deviceType],
    }))
