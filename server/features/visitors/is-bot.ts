// Decides by the user agent whether a client is a robot. The list of isbot has generic words (`tools`, `discovery`, `bot`)
// that are also in names of phones, televisions and apps: those are people.

import { isbot } from 'isbot'

/** Robots that the list misses: link checks of Office, scanners, tests of pages, and tools that fetch. */
const MISSED_BOTS = new RegExp(
  [
    // Office asks whether a link exists before it opens the link in a browser.
    'ms-?office|^Microsoft Office/\\d|^Microsoft Data Access|\\) (?:Word|Excel|PowerPoint)/\\d|Office (?:Existence|Protocol) Discovery',
    'screenshot|thumbnail|webthumb|websnapr|webscreenie|wkhtmlto|Miniature\\.io|YLT Chrome|GTmetrix|DebugBear|Nodemeter',
    'Observatory/\\d|SnapSearch|Siege/|Zombie\\.js|jsdom/|PowerShell/|Dart/\\d|kube-probe|Fetch API|ureq/|ReactorNetty',
    'Assetnote|Amzn-User|amazon-kendra|yunjiankong|Reaver|RevealUptime|evc-batch|Alibaba\\.Security|WhatWeb|Cerberian',
    'Barracuda|Proofpoint|Mimecast|SafeLinks|FortiGuard|Netcraft|urlscan|VirusTotal|Bitdefender|Zscaler|Forcepoint',
    'KimonoLabs|Yandex\\.Translate|BingLocalSearch|claude-web|Criteo|ForusP|Clarsentia|WAC-OFU|dotMailer|seocompany',
    'PTST/|ips-agent|wechatdevtools|Catchpoint|^iphone\\||Code/\\d[\\d.]* Chrome|Trae/\\d|Fluid/\\d|-turingos|HLB/\\d|geckoversion|SPEng$|wpif|imgsizer|Sonar/|MapperCmd',
    'Web Services Client Protocol|grub-client|Arachmo|Email Extractor|PeoplePal|Preload$|Mikrotik|NetworkingExtension/',
    '^Mozilliqa|^Gradle/|^docker/|^twine/|^kubectl/|^GitLab/|^SEOlizer|^SiteGuardian|^StackRambler|^Unshorten|^Page Valet',
  ].join('|'),
  'i',
)

/** The model of a phone, such as `VR BOT 552` or `Discovery`, and what apps add to every user agent. */
const MODEL = /(\bAndroid[ /]?[\d.]{0,9}; ?(?:[a-z]{2}[-_][a-z]{2}; ?)?)[^;()/:@]{1,60}/i
const ADDED =
  /\bCUBOT\b|\bWindows Server\b|\bQQDownload|\bGoogleT\d|\bGoogle Earth\b|https?:\/\/(?:bsalsa\.com|www\.(?:xbmc\.org|avantbrowser\.com|rcdtokyo\.com|instapaper\.com))|\bFirePHP\/|\bProcess\/tools\b|\[FB[^\]]*\]?|chromeframe\/[\d.]+|gzip\(gfe\);\w+|\bCatcher[\d.]+/g

/** Browsers and devices that only people have. */
const REAL = new RegExp(
  [
    'MicroMessenger/|QQBrowser|Sogou(?:M|Search|Android)|UCBrowser|UCWEB|YaBrowser/|Instagram|FBAN|FBAV|AlipayDefined|Weibo',
    '^LG Browser|\\bOpenTV\\b|BDPlayer|HbbTV|CE-HTML|NETTV|SMART-?TV|GoogleTV|Apple ?TV|VIDAA|RokuOS|^Cinnamon/|^opera/9|^smarttv_|^Amazon;AFT|TV(?:Black)?Android',
    'FOMA|DoCoMo|DDIPOCKET|WILLCOM|^SonyEricsson|Sleipnir/|w3m/|Dillo|BrowseX|OffByOne|AlphaServer|^CitrixReceiver|NetSurf/|Konqueror/|Avant Browser|Instapaper/',
    'Bada/|SAMSUNG-|MIDP|MAUI|\\bWAP\\b|BREW|webOS/|Windows Phone|PalmSource|^iPhone|^Apple-iP|^nook|pr\\(UCB|^Karbonn',
    'com\\.google\\.(?:android|Maps|GooglePlus)|^AndroidDownloadManager|^\\d\\.\\d\\.\\d \\(Linux; U; Android|Android \\d[\\d.]*; .*\\bBuild/|iP(?:ad|hone)OS/|\\bIOS i?phone|Freesat',
  ].join('|'),
  'i',
)
/** Words that no real browser has: they decide against it. */
const SURE =
  /bots?\b|crawl|spider|https?:\/\/|\+http|@[a-z]|externalhit|facebot|preview|headless|lighthouse|scan|monitor|python|curl|wget/i

/** The characters that hits keep of a user agent. In a longer text, the patterns take more than their share of time. */
export const USER_AGENT_MAX = 512

/** A client that sends no user agent is a bot. */
export function isBot(header: string): boolean {
  const userAgent = header.slice(0, USER_AGENT_MAX)
  if (userAgent.trim() === '') return true
  if (MISSED_BOTS.test(userAgent)) return true
  if (!isbot(userAgent)) return false
  const text = userAgent.replace(MODEL, '$1').replace(ADDED, '')
  return isbot(text) && !(REAL.test(text) && !SURE.test(text))
}
