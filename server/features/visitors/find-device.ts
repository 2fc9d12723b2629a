// Finds the kind of device in a user agent.

import { type DeviceName, OTHER } from '../../storage/clients/client-names.ts'
import { findModelDevice } from '../../storage/clients/device-models.ts'

const CONSOLE = /\bPlayStation\b|\bPS[345]\b|\bXbox\b|\bNintendo\b|\bOUYA\b|\bRetroid\b|\bSteam ?Deck\b/i
const TELEVISION = new RegExp(
  [
    '\\bTV\\b|[-_]?TV[-_]|\\bTV\\d|\\w{2,}TV\\b|Smart-?TV|Google ?TV|Apple ?TV|BRAVIA|\\bRoku|CrKey|\\bAFT[A-Z]|smarttv',
    'HbbTV|CE-HTML|NETTV|NetCast|\\bVIDAA\\b|Web0S|webOS\\.TV|ViziOS|VIZIO|WatchFree|AQUOS|VIERA|TiVo|Opera TV|OPR/.*OMI/',
    '\\bMaple\\d|(?:\\b|_|K)STB(?:\\d*\\b|_)|^Cinnamon/|\\bMB\\d+/\\d|\\(Sky, |\\.bd\\.|#TCL/|\\(Astro;|^opera/9\\.80,|, wire(?:d|less)\\)|;Wired\\)|BrightSign|Chromecast|\\bGibbon/|TiviMate|\\bKodi/|\\bXBMC/|\\bMiTV|\\bMiBOX|Shield Android',
  ].join('|'),
  'i',
)
const WEARABLE = /\bWatch|\bSM-R\d|\bWear OS\b|OculusBrowser|; Quest\b|\bPico \d|PicoBrowser/i
const TABLET = /\biPad(?![a-z])|\bTablet\b(?! PC)|\bPlayBook\b|\bKindle\b|\bSilk\/(?!.*\bMobile\b)/i
const PHONE = new RegExp(
  [
    '\\bWindows Phone\\b|\\bIEMobile\\b|\\bWindows CE\\b|BlackBerry|\\bBB10\\b|\\bBada\\b',
    '\\bKAIOS\\b|\\bSymb|\\bSeries ?[346]0\\b|\\bNokia|UP\\.Browser|UP\\.Link|DoCoMo|FOMA|jig browser|SoftBank|WILLCOM|DDIPOCKET|OpenBrowser|KDDI|Teleca|MIDP|MAUI|\\bBREW\\b|\\bPhone\\b|\\bSmartphone\\b|Opera Mini|OperaMini|UCWEB',
    '^SAMSUNG-|^SonyEricsson|^LG[-/]|^MOT-|\\bPalm|\\bwebOS/\\d|\\bMobile\\b|\\bWAP\\b|dv\\(iPh|\\bObigo|\\bPOLARIS|\\bNetFront',
  ].join('|'),
  'i',
)
const DESKTOP_SYSTEMS = new Set(['Windows', 'macOS', 'Linux', 'Chrome OS', 'BSD', 'Solaris', 'Fuchsia'])

/** @param os the system as `SYSTEMS` names it */
export function findDevice(userAgent: string, os: string): DeviceName {
  if (CONSOLE.test(userAgent)) return 'Console'
  if (TELEVISION.test(userAgent)) return 'TV'
  if (WEARABLE.test(userAgent)) return 'Wearable'
  if (os === 'iPadOS' || TABLET.test(userAgent)) return 'Tablet'
  if (os === 'Android' || os === 'HarmonyOS') return findAndroidDevice(userAgent)
  if (os === 'iOS' || PHONE.test(userAgent)) return 'Mobile'
  return DESKTOP_SYSTEMS.has(os) ? 'Desktop' : OTHER
}

const MODEL =
  /\bAndroid[ /]?[\d.]{0,9};? ?(?:[a-z]{2}(?:[-_][a-z]{2})?; ?)?([^;()/]{1,60}?)(?: Build|[;()/]|$)/i

/** A browser on a phone says `Mobile`. Apps do not, and most of them run on phones. */
function findAndroidDevice(userAgent: string): DeviceName {
  const known = findModelDevice((MODEL.exec(userAgent)?.[1] ?? '').trim().toUpperCase())
  if (known) return known
  if (/\bMobile\b/i.test(userAgent) || !/AppleWebKit|Gecko\//.test(userAgent)) return 'Mobile'
  return 'Tablet'
}
