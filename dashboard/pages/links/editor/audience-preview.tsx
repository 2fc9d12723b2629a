// Shows who goes where by the settings in the form: rules, targeting, then the variants of the split test.

import { classNames } from '../../../ui/class-names.ts'
import { formatCountryName, toReadableUrl } from '../../../ui/format.ts'
import { describeRule } from '../link/describe-rule.ts'
import { LINK_DEVICES } from '../link/link-devices.ts'
import { getVariantColor, VariantDot } from '../link/variant-dot.tsx'
import type { LinkDraft } from './link-draft.ts'
import { toRule } from './rule-draft.ts'
import { sumWeights, toVariant } from './split-draft.ts'

interface Audience {
  who: string
  url: string
}

/** The visitors whom rules and targeting redirect elsewhere, in the server's order. */
function listAudiences(draft: LinkDraft): Audience[] {
  return [
    ...draft.rules.map((rule) => {
      const { when, to } = toRule(rule)
      return { who: describeRule(when), url: to }
    }),
    ...LINK_DEVICES.map(({ name, label }) => ({ who: label, url: draft[name] })),
    ...draft.countries.map(({ code, url }) => ({ who: formatCountryName(code), url })),
  ].filter(({ who, url }) => who !== '' && url.trim() !== '')
}

const takesEverybody = ({ rules }: LinkDraft) =>
  rules.some((rule) => Object.keys(toRule(rule).when).length === 0 && rule.to.trim() !== '')

export function AudiencePreview({ draft }: { draft: LinkDraft }) {
  const audiences = listAudiences(draft)
  const variants = draft.split.map(toVariant)
  const sum = Math.max(sumWeights(draft.split), 1)
  return (
    <section aria-label="Who goes where" className="grid min-w-0 gap-2 rounded-xl bg-sunken p-3 text-sm">
      <h4 className="font-medium">Who goes where</h4>
      {audiences.length > 0 && (
        <ol className="grid list-inside list-decimal gap-1">
          {audiences.map(({ who, url }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an audience has no other name than its place
            <li key={index} className="min-w-0 break-words">
              {who}: <Destination url={url} />
            </li>
          ))}
        </ol>
      )}
      {takesEverybody(draft) ? (
        <p className="text-warn">
          A rule without conditions sends everyone elsewhere: no visitor gets a variant.
        </p>
      ) : (
        <>
          <p>{audiences.length > 0 ? 'Everyone else:' : 'Everyone:'}</p>
          <div className="flex h-2 gap-0.5 overflow-hidden rounded-full" aria-hidden>
            {variants.map(({ weight }, index) => (
              <span
                key={draft.split[index]?.key}
                className={getVariantColor(index)}
                style={{ width: `${(weight / sum) * 100}%` }}
              />
            ))}
          </div>
          <ul className="grid gap-1">
            {variants.map(({ label, url, weight }, index) => (
              <li key={draft.split[index]?.key} className="flex min-w-0 items-baseline gap-2">
                <VariantDot index={index} />
                <span className="shrink-0 tabular-nums">
                  {weight}
                  {'\u202f'}% {label}
                </span>
                <Destination url={url} isShort />
              </li>
            ))}
          </ul>
          <p className="text-soft">Bots and previews get the first variant, and count for none.</p>
        </>
      )}
    </section>
  )
}

const Destination = ({ url, isShort }: { url: string; isShort?: boolean }) => (
  <span className={classNames('text-soft', isShort ? 'truncate' : 'break-all')}>
    {url.trim() === '' ? 'no destination yet' : toReadableUrl(url)}
  </span>
)
