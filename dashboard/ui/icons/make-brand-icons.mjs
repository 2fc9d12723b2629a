// Makes brand-icons.json: color and SVG path of the browsers, systems and sources that most visitors come with, by their
// names in analytics. The icons are those of the npm package simple-icons (CC0); an icon that names a licence of its own
// is refused. The product does not need the package. In an empty directory:
//   npm install simple-icons@16
//   node {this file} . > {this directory}/brand-icons.json

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PACKAGE = join(resolve(process.argv[2] ?? '.'), 'node_modules/simple-icons')
const KNOWN = JSON.parse(readFileSync(join(PACKAGE, 'data/simple-icons.json'), 'utf8'))

/** The title in simple-icons, and our names where they are others. */
const ICONS = {
  Apple: ['iOS', 'iPadOS', 'macOS', 'watchOS', 'tvOS', 'iCloud Mail'],
  Baidu: [],
  Bluesky: [],
  Brave: ['Brave', 'Brave Search'],
  Claude: [],
  Discord: [],
  DuckDuckGo: [],
  Ecosia: [],
  Facebook: [],
  'Firefox Browser': ['Firefox', 'Firefox Focus'],
  GitHub: [],
  Gmail: [],
  Google: [],
  'Google Ads': [],
  'Google Chrome': ['Chrome', 'Chromium', 'Chrome OS'],
  'Google Gemini': ['Gemini'],
  'Google News': [],
  Instagram: [],
  KakaoTalk: [],
  LINE: [],
  Linktree: [],
  Linux: [],
  Mastodon: [],
  Medium: [],
  Messenger: [],
  Naver: ['Naver', 'Naver Whale', 'Naver Mail'],
  Opera: ['Opera', 'Opera Mini'],
  Perplexity: [],
  Pinterest: [],
  'Product Hunt': [],
  'Proton Mail': [],
  Quora: [],
  Qwant: [],
  Reddit: [],
  Snapchat: [],
  'Stack Overflow': [],
  Substack: [],
  Telegram: [],
  Threads: [],
  Thunderbird: [],
  TikTok: [],
  Tumblr: [],
  Twitch: [],
  Vimeo: [],
  VK: [],
  WeChat: [],
  WhatsApp: [],
  X: [],
  Xing: ['XING'],
  'Y Combinator': ['Hacker News'],
  YouTube: [],
}

/** simple-icons names its files so. */
const toFile = (title) => `icons/${title.toLowerCase().replace(/[^a-z0-9]/g, '')}.svg`

/** A color that is nearly black or white is left out: the text's color can be seen in both themes. */
function toVisibleColor(hex) {
  const [red, green, blue] = [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
  const brightness = 0.3 * red + 0.59 * green + 0.11 * blue
  return brightness < 0.18 || brightness > 0.85 ? '' : `#${hex}`
}

const brands = {}
for (const [title, names] of Object.entries(ICONS)) {
  const { hex, license } = KNOWN.find((each) => each.title === title) ?? {}
  if (!hex || license) throw new Error(`${title}: ${license ? 'has a licence of its own' : 'is unknown'}`)
  const [, path] = / d="([^"]+)"/.exec(readFileSync(join(PACKAGE, toFile(title)), 'utf8'))
  for (const name of names.length > 0 ? names : [title]) brands[name] = [toVisibleColor(hex), path]
}
process.stdout.write(`${JSON.stringify(brands)}\n`)
