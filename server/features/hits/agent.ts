// What a user agent says, in the names that people use. Parsing one takes 14 µs and few are ever new: kept.

import bowser from 'bowser'
import { isbot } from 'isbot'
import { describeError, log } from '../../lib/log.ts'

export interface Agent {
  bot: boolean
  device: string | null
  browser: string | null
  os: string | null
}

const REMEMBERED = 10_000

const DEVICES: Record<string, string> = { mobile: 'Mobile', tablet: 'Tablet', desktop: 'Desktop', tv: 'TV' }

// What bowser takes for a tablet, a desktop or nothing.
const SPECIAL_DEVICES: [RegExp, string][] = [
  [/PlayStation|Xbox|Nintendo/i, 'Console'],
  [/\bTV\b|SmartTV|GoogleTV|AppleTV|BRAVIA|Roku|CrKey|\bAFT[A-Z]/i, 'TV'],
  [/Watch|\bSM-R\d|Wear OS|OculusBrowser|\bQuest\b/i, 'Wearable'],
  [/CrOS|X11;/, 'Desktop'],
]

// Browsers inside apps: where a click of a social network mostly happens. Bowser calls them by their engine.
const APPS: [RegExp, string][] = [
  [/Instagram/, 'Instagram'],
  [/FBAN|FBAV|FB_IAB/, 'Facebook'],
  [/musical_ly|BytedanceWebview|TikTok/i, 'TikTok'],
  [/LinkedInApp/, 'LinkedIn'],
  [/Snapchat/, 'Snapchat'],
  [/\[Pinterest\//, 'Pinterest'],
  [/MicroMessenger/, 'WeChat'],
]

const BROWSERS: Record<string, string> = {
  'Microsoft Edge': 'Edge',
  'Samsung Internet for Android': 'Samsung Internet',
}

/** A cache of its own per worker: the most recent 10,000 user agents. */
export function createAgents(): (userAgent: string) => Agent {
  const known = new Map<string, Agent>()
  return (userAgent) => {
    let agent = known.get(userAgent)
    if (agent) known.delete(userAgent)
    else {
      agent = readAgent(userAgent)
      if (known.size >= REMEMBERED) known.delete(known.keys().next().value as string)
    }
    known.set(userAgent, agent)
    return agent
  }
}

/** Who sends no user agent is a program. */
export function readAgent(userAgent: string): Agent {
  if (userAgent.trim() === '') return { bot: true, device: null, browser: null, os: null }
  const { browser, os, platform } = parse(userAgent)
  const name = APPS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? browser.name
  const special = SPECIAL_DEVICES.find(([pattern]) => pattern.test(userAgent))?.[1]
  return {
    bot: isbot(userAgent),
    device: special ?? DEVICES[platform.type ?? ''] ?? null,
    browser: name ? (BROWSERS[name] ?? name) : null,
    os: os.name || null,
  }
}

/** No user agent that a stranger makes up may hold up the hits behind it. */
function parse(userAgent: string): Pick<ReturnType<typeof bowser.parse>, 'browser' | 'os' | 'platform'> {
  try {
    return bowser.parse(userAgent)
  } catch (error) {
    log.warn('user_agent_not_parsed', describeError(error))
    return { browser: {}, os: {}, platform: {} }
  }
}
