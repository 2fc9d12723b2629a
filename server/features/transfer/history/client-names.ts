// Converts tools' names of browsers, systems and devices to ours (visitors/user-agent.ts).

import { type ClosedDimension, toClosedName } from '../../../storage/clients/closed-names.ts'
import type { ParsedUserAgent } from '../../visitors/user-agent.ts'

const NOTHING = /^(?:|-|—|n\/?a|null|none|unknown|other|others|undefined|not set|\(not set\)|bot)$/i

const BROWSERS: [RegExp, string][] = [
  [
    /^(?:google )?chrome(?: mobile| webview| mobile webview| mobile ios| ios)?$|^mobile chrome$|^crios$/i,
    'Chrome',
  ],
  [/^(?:mobile )?safari$|^safari mobile$|^ios safari$/i, 'Safari'],
  [/^(?:mozilla )?firefox(?: mobile| ios)?$|^mobile firefox$|^fxios$/i, 'Firefox'],
  [/^(?:microsoft |ms )?edge(?: mobile| chromium)?$|^msedge$/i, 'Edge'],
  [/^(?:ie|msie|internet explorer|microsoft internet explorer)(?: mobile)?$/i, 'Internet Explorer'],
  [/^samsung(?: ?browser| internet)(?: for android)?$/i, 'Samsung Internet'],
  [/^opera(?: mobile| mobi| mini| touch| gx)?$/i, 'Opera'],
  [/^(?:facebook|fb)(?: app| in-app browser| browser)?$/i, 'Facebook'],
  [/^instagram(?: app| in-app browser)?$/i, 'Instagram'],
  [/^android (?:browser|webview|webkit)$/i, 'Android WebView'],
  [/^(?:uc|uc ?browser)$/i, 'UC Browser'],
  [/^wechat$/i, 'WeChat'],
  [/^gsa$|^google app$|^google search app$/i, 'Google'],
]

const SYSTEMS: [RegExp, string][] = [
  [/^(?:mac ?os(?: ?x)?|os ?x|macintosh|mac|darwin)\b/i, 'macOS'],
  [/^(?:ios|iphone(?: os)?)\b/i, 'iOS'],
  [/^(?:ipad ?os|ipad)\b/i, 'iPadOS'],
  [/^windows (?:phone|mobile)\b/i, 'Windows Phone'],
  [/^(?:windows|win)\b/i, 'Windows'],
  [/^android\b/i, 'Android'],
  [/^(?:chrome ?os|chromium ?os|cros)\b/i, 'Chrome OS'],
  [/^(?:linux|gnu\/linux|ubuntu|debian|fedora)\b/i, 'Linux'],
  [/^harmony ?os\b/i, 'HarmonyOS'],
  [/^web ?os\b/i, 'webOS'],
]

const DEVICES: [RegExp, string][] = [
  [/^(?:mobile|phone|smartphone|mobile phone|cell phone)$/i, 'Mobile'],
  [/^tablet$/i, 'Tablet'],
  [/^(?:desktop|pc|computer|laptop)$/i, 'Desktop'],
  [/^(?:tv|smart ?tv|television)$/i, 'TV'],
  [/^(?:game )?console$/i, 'Console'],
  [/^(?:wearable|watch)$/i, 'Wearable'],
]

/** An unknown name becomes `Other`, because an import has texts from strangers. */
function toOwnName(
  dimension: ClosedDimension,
  text: string | null,
  names: [RegExp, string][],
): string | null {
  const name = text?.trim() ?? ''
  if (NOTHING.test(name)) return null
  return names.find(([pattern]) => pattern.test(name))?.[1] ?? toClosedName(dimension, name)
}

export const toClientNames = (named: {
  browser: string | null
  os: string | null
  device: string | null
}): Omit<ParsedUserAgent, 'bot'> => ({
  browser: toOwnName('browser', named.browser, BROWSERS),
  os: toOwnName('os', named.os, SYSTEMS),
  device: toOwnName('device', named.device, DEVICES),
})
