// The fields of a link. Where it goes and what it is called come first; the rest is folded away until it is needed.

import { lazy, Suspense } from 'react'
import { Field, Textarea, TextField } from '../../../ui/forms/field.tsx'
import { Skeleton } from '../../../ui/states.tsx'
import { CollapsibleSection } from './collapsible-section.tsx'
import { UTM_PARAMETERS } from './destination-url.ts'
import { findNestedError, type LinkFieldsProps } from './field-props.ts'
import { describeLimits, LimitFields } from './limit-fields.tsx'
import { setDestination, setUtm } from './link-draft.ts'
import { LinkPreview } from './link-preview.tsx'
import { RedirectFields } from './redirect-fields.tsx'
import { SlugField } from './slug-field.tsx'
import { TagsField } from './tags-field.tsx'
import { TargetingFields } from './targeting-fields.tsx'

const QrCodePanel = lazy(() =>
  import('../link/qr-code-panel.tsx').then(({ QrCodePanel }) => ({ default: QrCodePanel })),
)

export function LinkForm(props: LinkFieldsProps) {
  const { draft, link, errors, onChange } = props
  return (
    <div className="grid grid-cols-1">
      {errors[''] && (
        <p role="alert" className="mb-4 rounded-lg border border-danger bg-danger-tint px-3 py-2 text-sm">
          {errors['']}
        </p>
      )}
      <div className="grid grid-cols-1 gap-4 pb-5">
        <TextField
          label="Destination"
          inputMode="url"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          placeholder="https://example.com/landing"
          maxLength={8192}
          value={draft.destinationUrl}
          error={errors.destinationUrl}
          onChange={({ target }) => onChange(setDestination(draft, target.value))}
        />
        <SlugField {...props} />
        <LinkPreview draft={draft} link={link} />
        <TextField
          label="Title"
          autoComplete="off"
          maxLength={500}
          placeholder="For you and your team; visitors do not see it"
          value={draft.title}
          error={errors.title}
          onChange={({ target }) => onChange({ title: target.value })}
        />
        <TagsField
          tags={draft.tags}
          error={errors.tagIds ?? findNestedError(errors, 'tagNames')}
          onChange={(tags) => onChange({ tags })}
        />
      </div>
      <UtmSection {...props} />
      <TargetingFields {...props} />
      <LimitFields {...props} set={describeLimits(draft)} />
      <RedirectFields {...props} />
      <MoreSection {...props} />
      {link && (
        <CollapsibleSection title="QR code">
          <Suspense fallback={<Skeleton className="h-56" />}>
            <QrCodePanel link={link} />
          </Suspense>
        </CollapsibleSection>
      )}
    </div>
  )
}

function UtmSection({ draft, onChange }: LinkFieldsProps) {
  const set = UTM_PARAMETERS.filter(({ name }) => draft.utm[name] !== '')
  return (
    <CollapsibleSection
      title="Campaign (UTM)"
      set={set.length > 0 && set.map(({ name }) => draft.utm[name]).join(', ')}
    >
      <p className="text-sm text-soft">
        Written into the destination, where your own analytics read them too.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        {UTM_PARAMETERS.map(({ name, label, example }) => (
          <TextField
            key={name}
            label={label}
            autoComplete="off"
            autoCapitalize="none"
            maxLength={255}
            placeholder={example}
            value={draft.utm[name]}
            onChange={({ target }) => onChange(setUtm(draft, name, target.value))}
          />
        ))}
      </div>
    </CollapsibleSection>
  )
}

function MoreSection({ draft, errors, onChange }: LinkFieldsProps) {
  const set = [draft.comments !== '' && 'comments', draft.externalId].filter(Boolean).join(', ')
  return (
    <CollapsibleSection
      title="Comments and external id"
      set={set}
      wrong={Boolean(errors.comments ?? errors.externalId)}
    >
      <Field label="Comments" error={errors.comments}>
        {(control) => (
          <Textarea
            {...control}
            maxLength={5000}
            value={draft.comments}
            onChange={({ target }) => onChange({ comments: target.value })}
          />
        )}
      </Field>
      <TextField
        label="External id"
        hint="The id of this link in a system of yours; the API finds it by that."
        autoComplete="off"
        maxLength={255}
        value={draft.externalId}
        error={errors.externalId}
        onChange={({ target }) => onChange({ externalId: target.value })}
      />
    </CollapsibleSection>
  )
}
