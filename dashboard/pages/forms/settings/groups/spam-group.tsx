// The protection of a form against bots, and its spam filter.

import { formatExample, Toggle } from '../../../../ui/forms/field.tsx'
import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import { findItemError } from '../controls/item-error.ts'
import { ListField } from '../controls/list-field.tsx'
import { NumberField } from '../controls/number-field.tsx'
import type { FormDraft, GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'
import { AllowedSenders } from './allowed-senders.tsx'

type Spam = FormDraft['spam']

const LISTS = [
  {
    name: 'words',
    label: 'Blocked words',
    placeholder: formatExample('casino'),
    hint: 'A submission with one of these words is spam. A * stands for any letters: crypto* is also “cryptocurrency”.',
  },
  {
    name: 'emails',
    label: 'Blocked email addresses',
    placeholder: formatExample('*@spam.example'),
    hint: 'Submissions from these addresses are spam, such as *@spam.example.',
  },
  {
    name: 'domains',
    label: 'Blocked domains',
    placeholder: formatExample('spam.example'),
    hint: 'Submissions that link to these domains or their subdomains, or come from an address there, are spam.',
  },
] as const

/** Submissions that are refused and not stored. */
export const ProtectionGroup = ({ draft, set, errors }: GroupProps) => (
  <SettingsGroup id="spam">
    <Toggle
      label="Captcha"
      hint="Keeps bots out, and people rarely notice it. With a captcha, the form works only on pages with the snippet. Without one, it works without the snippet too."
      checked={draft.captcha}
      onChange={(event) => set({ captcha: event.target.checked })}
    />
    <ListField
      label="Allowed sites"
      hint="For example https://example.com or https://*.example.com. Leave empty to allow all sites."
      placeholder={formatExample('https://example.com')}
      value={draft.allowedOrigins}
      onChange={(allowedOrigins) => set({ allowedOrigins })}
      error={findFieldError(errors, 'allowedOrigins')}
    />
    <AddressLimit {...{ draft, set, errors }} />
  </SettingsGroup>
)

/** Submissions that are stored as spam. */
export function FilterGroup({ draft, set, errors }: GroupProps) {
  const { spam } = draft
  const setSpam = (part: Partial<Spam>) => set({ spam: { ...spam, ...part } })
  return (
    <SettingsGroup id="filter" error={errors.spam}>
      <p className="text-soft">
        The filter never rejects a submission. Matches go to spam in the inbox, with the reason and without
        notifications. “Not spam” restores a submission and notifies your team.
      </p>
      <Toggle
        label="Learn from the inbox"
        hint="Learns from submissions that your team marks as spam or not spam. It starts once there are 20 of each."
        checked={spam.learn}
        onChange={(event) => setSpam({ learn: event.target.checked })}
      />
      {LISTS.map(({ name, ...list }) => (
        <ListField
          key={name}
          {...list}
          value={spam[name]}
          onChange={(values) => setSpam({ [name]: values })}
          error={findItemError(errors, `spam.${name}`, spam[name])}
        />
      ))}
      <NumberField
        label="Max links"
        hint="A submission with more links is spam. Leave empty to allow any number."
        value={spam.maxLinks}
        onChange={(maxLinks) => setSpam({ maxLinks })}
        error={errors['spam.maxLinks']}
      />
      <NumberField
        label="Spam retention"
        unit="days"
        hint="Spam is erased after that, with its files."
        defaultsTo={30}
        min={1}
        value={draft.spamRetentionDays}
        onChange={(spamRetentionDays) => set({ spamRetentionDays })}
        error={errors.spamRetentionDays}
      />
      <AllowedSenders />
    </SettingsGroup>
  )
}

function AddressLimit({ draft, set, errors }: Pick<GroupProps, 'draft' | 'set' | 'errors'>) {
  return (
    <NumberField
      label="Submissions per minute from one IP address"
      hint="Raise it if many people share an address, such as in an office, at a school or at an event."
      defaultsTo={10}
      min={1}
      max={600}
      value={draft.perAddress}
      onChange={(perAddress) => set({ perAddress })}
      error={errors.perAddress}
    />
  )
}
