// Parses a user agent into bot, device, browser and system, by closed lists of names. Parsing takes microseconds, so
// `createEnricher` caches the result.

import { BROWSERS, type ClientPattern, OTHER, SYSTEMS } from '../../storage/clients/client-names.ts'
import { findDevice } from './find-device.ts'
import { isBot, USER_AGENT_MAX } from './is-bot.ts'

export interface ParsedUserAgent {
  bot: boolean
  device: string | null
  browser: string | null
  os: string | null
}

const findName = (list: readonly ClientPattern[], text: string) =>
  list.find(([, pattern]) => pattern.test(text))?.[0] ?? OTHER

/** A client that sends no user agent is a bot without names. */
export function parseUserAgent(header: string): ParsedUserAgent {
  const userAgent = header.slice(0, USER_AGENT_MAX)
  if (userAgent.trim() === '') return { bot: true, device: null, browser: null, os: null }
  const os = findName(SYSTEMS, userAgent)
  return {
    bot: isBot(userAgent),
    device: findDevice(userAgent, os),
    browser: findName(BROWSERS, userAgent),
    os,
  }
}
