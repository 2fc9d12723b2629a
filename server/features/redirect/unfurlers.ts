// The services that fetch a link to show a card of it in a post or a chat, by their user agent. They get the link's own
// card, where it has one. Search engines are none of them: they follow the redirect.

export interface Unfurler {
  name: string
  /** Must not match the browser inside the service's own app, such as `[Pinterest/iOS]` or `LinkedInApp`. */
  pattern: RegExp
  /** A page or a source file that names the user agent. */
  source: string
}

/** A list that many projects keep together, for services that do not document what they send. */
const CATALOG = 'https://github.com/monperrus/crawler-user-agents/blob/master/crawler-user-agents.json'

export const UNFURLERS: readonly Unfurler[] = [
  {
    // Also Messenger, Instagram and Threads. LINE and KakaoTalk name it in their own user agents.
    name: 'Facebook',
    pattern: /facebookexternalhit|facebot/,
    source: 'https://developers.facebook.com/docs/sharing/webmasters/web-crawlers/',
  },
  {
    name: 'X',
    pattern: /twitterbot/,
    source: 'https://developer.x.com/en/docs/x-for-websites/cards/guides/getting-started',
  },
  { name: 'Slack', pattern: /slackbot/, source: 'https://api.slack.com/robots' },
  {
    name: 'Discord',
    pattern: /discordbot/,
    source: 'https://github.com/discord/discord-api-docs/issues/1600',
  },
  {
    name: 'WhatsApp',
    pattern: /^whatsapp\//,
    source: 'https://opengraphplus.com/consumers/whatsapp/crawling',
  },
  {
    // It calls itself WhatsApp.
    name: 'Signal',
    pattern: /^whatsapp\/2$/,
    source:
      'https://github.com/signalapp/Signal-Desktop/blob/main/ts/linkPreviews/linkPreviewFetch.preload.ts',
  },
  { name: 'Telegram', pattern: /telegrambot/, source: CATALOG },
  { name: 'LinkedIn', pattern: /linkedinbot/, source: CATALOG },
  {
    // The apps call themselves Facebook and X.
    name: 'iMessage',
    pattern: /facebookexternalhit\/1\.1 facebot twitterbot/,
    source: 'https://developer.apple.com/documentation/technotes/tn3156-create-rich-previews-for-messages',
  },
  { name: 'Microsoft Teams and Skype', pattern: /skypeuripreview|microsoftpreview/, source: CATALOG },
  { name: 'Pinterest', pattern: /pinterestbot|^pinterest\/\d/, source: 'https://www.pinterest.com/bot.html' },
  { name: 'Reddit', pattern: /redditbot/, source: CATALOG },
  {
    name: 'Mastodon',
    pattern: /mastodon\/\d/,
    source: 'https://github.com/mastodon/mastodon/blob/main/lib/mastodon/version.rb',
  },
  {
    name: 'Bluesky',
    pattern: /bluesky cardyb/,
    source: 'https://github.com/faisalman/ua-parser-js/blob/master/test/data/ua/extension/fetcher.json',
  },
  {
    name: 'Google Chat and Messages',
    pattern: /google-pagerenderer|developers\.google\.com\/\+\/web\/snippet|google-chat\/\d/,
    source: 'https://opengraphplus.com/consumers/googlechat',
  },
  {
    name: 'Snapchat',
    pattern: /snap url preview|snapurlpreview/,
    source: 'https://developers.snap.com/robots',
  },
  { name: 'VK', pattern: /vkshare/, source: CATALOG },
  { name: 'Viber', pattern: /^viber$/, source: CATALOG },
  { name: 'Matrix', pattern: /^synapse \(bot/, source: CATALOG },
  { name: 'Misskey', pattern: /summalybot/, source: 'https://github.com/misskey-dev/summaly' },
  // Other services, such as Atlassian, get their cards from these two.
  { name: 'Iframely', pattern: /iframely\//, source: 'https://iframely.com/docs/about' },
  { name: 'Embedly', pattern: /embedly[/ ]/, source: CATALOG },
]

const ANY = new RegExp(UNFURLERS.map(({ pattern }) => pattern.source).join('|'), 'i')

/** Longer than any of these user agents. */
const USER_AGENT_MAX = 512

export const isUnfurler = (userAgent: string | null): boolean =>
  userAgent !== null && ANY.test(userAgent.slice(0, USER_AGENT_MAX))
