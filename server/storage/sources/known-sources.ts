// Data about known sources: their names, hosts and apps, and the words of campaigns, collected by hand from public knowledge. An
// entry also covers subdomains of its hosts that have no entry of their own.

import { PUBLIC_ENTRIES } from './public-sources.ts'

export const SOURCE_KINDS = ['search', 'social', 'video', 'email', 'ai', 'ads', 'site'] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

type Entry = [name: string, hosts: string, words?: string]

/** @param names the subdomains of each name */
const listSubdomains = (domain: string, names: Record<string, string>): Entry[] =>
  Object.entries(names).map(([name, subdomains]) => [
    name,
    subdomains
      .split(' ')
      .map((subdomain) => `${subdomain}.${domain}`)
      .join(' '),
  ])

/** Google has a host in nearly every country: `google.` and one of these. */
const GOOGLE_ENDINGS =
  'com ad ae al am as at az ba be bf bg bi bj bs bt by ca cat cd cf cg ch ci cl cm cn cv cz de dj dk dm dz ee es fi fm ' +
  'fr ga ge gg gl gm gr gy hn hr ht hu ie im iq is it je jo kg ki kz la li lk lt lu lv md me mg mk ml mn mu mv mw ne nl ' +
  'no nr nu pl pn ps pt ro rs ru rw sc se sh si sk sm sn so sr st td tg tl tm tn to tt vu ws co.ao co.bw co.ck co.cr ' +
  'co.id co.il co.in co.jp co.ke co.kr co.ls co.ma co.mz co.nz co.th co.tz co.ug co.uk co.uz co.ve co.vi co.za co.zm ' +
  'co.zw com.af com.ag com.ar com.au com.bd com.bh com.bn com.bo com.br com.bz com.co com.cu com.cy com.do com.ec ' +
  'com.eg com.et com.fj com.gh com.gi com.gt com.hk com.jm com.kh com.kw com.lb com.ly com.mm com.mt com.mx com.my ' +
  'com.na com.ng com.ni com.np com.om com.pa com.pe com.pg com.ph com.pk com.pr com.py com.qa com.sa com.sb com.sg ' +
  'com.sl com.sv com.tj com.tr com.tw com.ua com.uy com.vc com.vn ' +
  // Few visitors come from these.
  'ac cc gd gf gp io ms tk us vg com.ai com.by com.lc com.nf com.tn it.ao'
const GOOGLE_HOSTS = GOOGLE_ENDINGS.split(' ')
  .map((ending) => `google.${ending}`)
  .join(' ')

/**
 * By kind: the source's name, its hosts, and words of `utm_source` for it. Its name and its hosts are always such words.
 * Android apps send their package name as host, and iOS apps their number in the App Store.
 */
const ENTRIES: Record<SourceKind, Entry[]> = {
  search: [
    ['Google', `${GOOGLE_HOSTS} com.google.android.googlequicksearchbox 284815942`],
    ['Google News', 'news.google.com com.google.android.apps.magazines 459182288'],
    ['Bing', 'bing.com com.microsoft.bing 345323231'],
    ['Yahoo', 'yahoo.com yahoo.co.jp com.yahoo.mobile.client.android.yahoo 304158842'],
    ['DuckDuckGo', 'duckduckgo.com duck.com com.duckduckgo.mobile.android 663592361', 'ddg'],
    [
      'Yandex',
      'yandex.ru yandex.com yandex.by yandex.kz yandex.uz yandex.com.tr ya.ru ru.yandex.searchplugin',
    ],
    ['Baidu', 'baidu.com com.baidu.searchbox'],
    ['Ecosia', 'ecosia.org com.ecosia.android 670881887'],
    ['Qwant', 'qwant.com com.qwant.liberty'],
    ['Startpage', 'startpage.com'],
    ['Brave Search', 'search.brave.com'],
    ['Kagi', 'kagi.com'],
    ['Naver', 'naver.com com.nhn.android.search'],
    ['Daum', 'daum.net'],
    ['Seznam', 'seznam.cz cz.seznam.sbrowser'],
    ['Sogou', 'sogou.com'],
    ['360 Search', 'so.com'],
    ['Mojeek', 'mojeek.com'],
    ['Swisscows', 'swisscows.com'],
    ['MetaGer', 'metager.org metager.de'],
    ['Ask', 'ask.com'],
    ['AOL', 'aol.com'],
    ['Rambler', 'rambler.ru'],
    ['Coc Coc', 'coccoc.com'],
  ],
  social: [
    ['Facebook', 'facebook.com fb.com fb.me com.facebook.katana com.facebook.lite 284882215', 'fb'],
    ['Messenger', 'messenger.com m.me com.facebook.orca com.facebook.mlite 454638411'],
    ['Instagram', 'instagram.com ig.me com.instagram.android 389801252', 'ig insta'],
    ['Threads', 'threads.net threads.com com.instagram.barcelona 6446901002'],
    ['X', 't.co x.com twitter.com com.twitter.android 333903271', 'tw twitter'],
    ['Google Plus', 'plus.google.com url.google.com'],
    ['LinkedIn', 'linkedin.com lnkd.in com.linkedin.android 288429040', 'li'],
    ['Reddit', 'reddit.com redd.it com.reddit.frontpage 1064216828'],
    [
      'Pinterest',
      'pinterest.com pin.it pinterest.de pinterest.fr pinterest.co.uk pinterest.ca com.pinterest 429047995',
    ],
    ['WhatsApp', 'whatsapp.com wa.me com.whatsapp com.whatsapp.w4b 310633997'],
    ['Telegram', 'telegram.org t.me telegram.me org.telegram.messenger 686449807'],
    ['Snapchat', 'snapchat.com com.snapchat.android 447188370', 'snap'],
    ['Discord', 'discord.com discord.gg discordapp.com com.discord 985746746'],
    ['Bluesky', 'bsky.app bsky.social xyz.blueskyweb.app 6444370199', 'bsky'],
    [
      'Mastodon',
      'mastodon.social mastodon.online mas.to mstdn.social fosstodon.org hachyderm.io chaos.social org.joinmastodon.android',
    ],
    ['Tumblr', 'tumblr.com t.umblr.com com.tumblr 305343404'],
    ['Quora', 'quora.com com.quora.android'],
    ['Hacker News', 'news.ycombinator.com hckrnews.com', 'hn hackernews'],
    ['Lobsters', 'lobste.rs'],
    ['Product Hunt', 'producthunt.com', 'producthunt ph'],
    ['Lemmy', 'lemmy.world lemmy.ml'],
    ['VK', 'vk.com vk.ru com.vkontakte.android', 'vkontakte'],
    ['OK', 'ok.ru odnoklassniki.ru'],
    ['Weibo', 'weibo.com weibo.cn com.sina.weibo'],
    ['WeChat', 'weixin.qq.com wechat.com com.tencent.mm'],
    ['QQ', 'qq.com com.tencent.mobileqq'],
    ['Zhihu', 'zhihu.com com.zhihu.android'],
    ['Xiaohongshu', 'xiaohongshu.com xhslink.com com.xingin.xhs', 'rednote'],
    ['Douban', 'douban.com'],
    ['LINE', 'line.me jp.naver.line.android 443904275'],
    ['KakaoTalk', 'kakao.com com.kakao.talk 362057947'],
    ['Viber', 'viber.com com.viber.voip'],
    ['Signal', 'signal.org org.thoughtcrime.securesms'],
    ['XING', 'xing.com com.xing.android'],
    ['Nextdoor', 'nextdoor.com com.nextdoor'],
    ['Flipboard', 'flipboard.com flip.it'],
    ['Medium', 'medium.com com.medium.reader'],
    ['Substack', 'substack.com com.substack.app'],
    ['Stack Overflow', 'stackoverflow.com stackexchange.com'],
    ['Linktree', 'linktr.ee'],
    ['Truth Social', 'truthsocial.com'],
  ],
  video: [
    ['YouTube', 'youtube.com youtu.be com.google.android.youtube 544007664', 'yt'],
    ['TikTok', 'tiktok.com tiktokv.com com.zhiliaoapp.musically com.ss.android.ugc.trill 835599320', 'tt'],
    ['Douyin', 'douyin.com com.ss.android.ugc.aweme'],
    ['Vimeo', 'vimeo.com com.vimeo.android.videoapp'],
    ['Twitch', 'twitch.tv tv.twitch.android.app 460177396'],
    ['Dailymotion', 'dailymotion.com dai.ly'],
    ['Bilibili', 'bilibili.com b23.tv tv.danmaku.bili'],
    ['Kick', 'kick.com'],
    ['Rumble', 'rumble.com'],
    ['Odysee', 'odysee.com'],
    ['Rutube', 'rutube.ru'],
    ['Niconico', 'nicovideo.jp nico.ms'],
  ],
  email: [
    ['Gmail', 'mail.google.com com.google.android.gm 422689480'],
    [
      'Outlook',
      'outlook.com outlook.live.com outlook.office.com outlook.office365.com outlook.cloud.microsoft safelinks.protection.outlook.com mail.live.com hotmail.com com.microsoft.office.outlook 951937596',
    ],
    ['Yahoo Mail', 'mail.yahoo.com mail.yahoo.co.jp com.yahoo.mobile.client.android.mail 577586159'],
    ['AOL Mail', 'mail.aol.com com.aol.mobile.aolapp'],
    ['iCloud Mail', 'icloud.com'],
    ['Proton Mail', 'mail.proton.me proton.me protonmail.com ch.protonmail.android'],
    ['GMX', 'gmx.net gmx.de gmx.com gmx.at gmx.ch de.gmx.mobile.android.mail'],
    ['WEB.DE', 'web.de de.web.mobile.android.mail'],
    ['Fastmail', 'fastmail.com com.fastmail.app'],
    ['Zoho Mail', 'mail.zoho.com mail.zoho.eu'],
    ['Tuta', 'tuta.com tutanota.com'],
    ['mailbox.org', 'mailbox.org'],
    ['Posteo', 'posteo.de'],
    ['T-Online', 'email.t-online.de'],
    ['Orange Mail', 'messagerie.orange.fr'],
    ['Libero Mail', 'mail.libero.it'],
    ['Mail.ru', 'mail.ru ru.mail.mailapp'],
    ['Yandex Mail', 'mail.yandex.ru mail.yandex.com ru.yandex.mail'],
    ['QQ Mail', 'mail.qq.com com.tencent.androidqqmail'],
    ['NetEase Mail', 'mail.163.com mail.126.com'],
    ['Naver Mail', 'mail.naver.com'],
    ['Spark', 'com.readdle.spark'],
    ['Thunderbird', 'net.thunderbird.android com.fsck.k9'],
    ['Mailchimp', 'mailchimp.com list-manage.com mailchi.mp campaign-archive.com'],
    ['Brevo', 'brevo.com sendinblue.com sendibm1.com'],
    ['Klaviyo', 'klaviyo.com klclick.com'],
    ['HubSpot', 'hubspotemail.net hubspotlinks.com'],
    ['SendGrid', 'sendgrid.net sendgrid.com'],
    ['Kit', 'convertkit.com kit-mail.com', 'convertkit'],
    ['beehiiv', 'beehiiv.com'],
    ['ActiveCampaign', 'activehosted.com', 'activecampaign'],
    ['MailerLite', 'mailerlite.com'],
    ['Campaign Monitor', 'createsend.com cmail20.com'],
  ],
  ai: [
    ['ChatGPT', 'chatgpt.com openai.com com.openai.chatgpt 6448311069'],
    ['Claude', 'claude.ai com.anthropic.claude 6473753684'],
    ['Gemini', 'gemini.google.com bard.google.com com.google.android.apps.bard 6477489729'],
    ['Perplexity', 'perplexity.ai ai.perplexity.app.android 1668000334'],
    [
      'Copilot',
      'copilot.microsoft.com copilot.cloud.microsoft m365.cloud.microsoft com.microsoft.copilot 6472538445',
    ],
    ['Grok', 'grok.com ai.x.grok'],
    ['DeepSeek', 'deepseek.com com.deepseek.chat'],
    ['Mistral', 'mistral.ai'],
    ['Meta AI', 'meta.ai'],
    ['You.com', 'you.com'],
    ['Poe', 'poe.com com.poe.android'],
    ['Kimi', 'kimi.com kimi.moonshot.cn'],
    ['Qwen', 'qwen.ai'],
    ['Doubao', 'doubao.com'],
    ['HuggingChat', 'huggingface.co'],
    ['NotebookLM', 'notebooklm.google.com'],
  ],
  // Ad networks and their servers: visitors from there came by an ad.
  ads: [
    [
      'Google Ads',
      'googleads.g.doubleclick.net googlesyndication.com doubleclick.net googleadservices.com 2mdn.net adsensecustomsearchads.com syndicatedsearch.goog imasdk.googleapis.com',
    ],
  ],
  // Subdomains of search engines without a search, and all other sources.
  site: [
    ...listSubdomains('google.com', {
      'Google Calendar': 'calendar',
      'Google Meet': 'meet',
      'Google Sites': 'sites',
      'Google Groups': 'groups',
      'Google Classroom': 'classroom',
      'Google Play': 'play',
      'Google Keep': 'keep',
      'Google Photos': 'photos',
      'Google Contacts': 'contacts',
      'Google Earth': 'earth',
      'Google Accounts': 'accounts myaccount admin one',
      'Google Help': 'support developers cloud console.cloud workspace script policies about blog business',
      'Google Data': 'analytics ads adwords datastudio lookerstudio search trends tagmanager colab.research',
      'Google Tasks': 'tasks',
      'Google Voice': 'voice',
      'Google Finance': 'finance',
      'Google Travel': 'travel',
      'Google Forms': 'forms',
    }),
    ...listSubdomains('yahoo.com', {
      'Yahoo News': 'news',
      'Yahoo Finance': 'finance',
      'Yahoo Sports': 'sports eurosport',
      'Yahoo Weather': 'weather',
      'Yahoo Groups': 'groups answers messenger login',
      'Yahoo Life':
        'lifestyle travel shopping games movies cars omg screen astrology tv music entertainment style makers autos health homes',
    }),
    [
      'Yahoo Japan',
      'news.yahoo.co.jp auctions.yahoo.co.jp shopping.yahoo.co.jp chiebukuro.yahoo.co.jp finance.yahoo.co.jp weather.yahoo.co.jp sports.yahoo.co.jp page.auctions.yahoo.co.jp',
    ],
    [
      'Yandex Services',
      'maps.yandex.ru maps.yandex.ua maps.yandex.com maps.yandex.by disk.yandex.ru disk.yandex.com calendar.yandex.ru calendar.yandex.com music.yandex.ru news.yandex.ru dzen.ru passport.yandex.ru docs.yandex.ru forms.yandex.ru tracker.yandex.ru',
    ],
    [
      'Baidu Services',
      'tieba.baidu.com baike.baidu.com zhidao.baidu.com pan.baidu.com map.baidu.com wenku.baidu.com',
    ],
    [
      'Naver Services',
      'blog.naver.com cafe.naver.com news.naver.com map.naver.com shopping.naver.com calendar.naver.com',
    ],
    ['Bing Maps', 'maps.bing.com rewards.bing.com'],
    ['GitHub', 'github.com com.github.android'],
    ['GitLab', 'gitlab.com'],
    ['Slack', 'slack.com com.slack 618783545'],
    [
      'Microsoft Teams',
      'teams.microsoft.com teams.live.com teams.cloud.microsoft statics.teams.cdn.office.net com.microsoft.teams',
      'teams',
    ],
    ['Google Docs', 'docs.google.com drive.google.com'],
    ['Google Chat', 'chat.google.com com.google.android.apps.dynamite'],
    ['Google Translate', 'translate.google.com'],
    ['Google Maps', 'maps.google.com com.google.android.apps.maps'],
    ['Notion', 'notion.so notion.com'],
    ['Jira', 'atlassian.net'],
    ['Zoom', 'zoom.us us.zoom.videomeetings'],
    ['Wikipedia', 'wikipedia.org org.wikipedia'],
    ['Internet Archive', 'archive.org'],
    [
      'Amazon',
      'amazon.com amazon.de amazon.co.uk amazon.fr amazon.it amazon.es amazon.co.jp amazon.in amazon.ca amazon.com.br',
    ],
    ['eBay', 'ebay.com ebay.de ebay.co.uk'],
    ['Etsy', 'etsy.com'],
    ['Eventbrite', 'eventbrite.com eventbrite.de eventbrite.co.uk'],
    ['Meetup', 'meetup.com'],
    ['Patreon', 'patreon.com'],
    ['Spotify', 'spotify.com com.spotify.music'],
    ['SoundCloud', 'soundcloud.com'],
    ['Feedly', 'feedly.com'],
    ['Pocket', 'getpocket.com'],
    ['dev.to', 'dev.to'],
    ['Hashnode', 'hashnode.com hashnode.dev'],
    ['WordPress.com', 'wordpress.com'],
    ['Blogger', 'blogger.com blogspot.com'],
  ],
}

export interface KnownSource {
  name: string
  kind: SourceKind
  hosts: readonly string[]
  /** Words of `utm_source` for this source, besides its hosts: its name and its abbreviations, in lower case. */
  words: readonly string[]
}

/** A source of the public list adds its hosts to the source of the same name, or is a new source. */
const listKind = (kind: SourceKind): KnownSource[] => {
  const more = new Map<string, string>(PUBLIC_ENTRIES[kind] ?? [])
  const own = ENTRIES[kind].map(([name, hosts, words = '']): KnownSource => {
    const added = more.get(name) ?? ''
    more.delete(name)
    return { name, kind, hosts: split(`${hosts} ${added}`), words: [name.toLowerCase(), ...split(words)] }
  })
  // Many names of old search engines are common words, so only names of social networks and assistants are words for a source.
  const isWord = kind === 'social' || kind === 'ai'
  const others = Array.from(more, ([name, hosts]) => {
    return { name, kind, hosts: split(hosts), words: isWord ? [name.toLowerCase()] : [] }
  })
  return [...own, ...others]
}

const split = (text: string) => text.split(' ').filter((word) => word !== '')

export const KNOWN_SOURCES: readonly KnownSource[] = SOURCE_KINDS.flatMap(listKind)
