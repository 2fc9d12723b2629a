// The fields of a link. Destination and slug come first; the other fields are in closed sections.

import { useState } from 'react'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { formatExample, TextareaField, TextField, Toggle } from '../../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../../ui/forms/form-error.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { t } from '../../../ui/text.ts'
import { CardFields } from './card-fields.tsx'
import type { LinkFieldsProps } from './field-props.ts'
import { describeLimits, LimitFields } from './limit-fields.tsx'
import { setDestination } from './link-draft.ts'
import { LinkPreview } from './link-preview.tsx'
import { RedirectFields } from './redirect-fields.tsx'
import { RuleFields } from './rule-fields.tsx'
import { SlugField } from './slug-field.tsx'
import { SplitFields } from './split-fields.tsx'
import { TagsField } from './tags-field.tsx'
import { TargetingFields } from './targeting-fields.tsx'
import { UtmFields } from './utm-fields.tsx'

const QrCodePanel = lazyPart(
  () => import('../link/qr-code-panel.tsx'),
  'QrCodePanel',
  <Skeleton className="h-56" />,
)

export function LinkForm(props: LinkFieldsProps) {
  const { draft, link, errors, onChange } = props
  // A closed section draws no code.
  const [isQrOpen, setQrOpen] = useState(false)
  return (
    <div className="grid grid-cols-1">
      {errors.general && (
        <div className="mb-4">
          <FormError>{errors.general}</FormError>
        </div>
      )}
      <div className="grid grid-cols-1 gap-4 pb-5">
        <TextField
          label="Destination URL"
          inputMode="url"
          {...CODE_INPUT}
          autoFocus
          placeholder={formatExample('https://example.com/landing')}
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
          placeholder="Only your team sees this"
          value={draft.title}
          error={errors.title}
          onChange={({ target }) => onChange({ title: target.value })}
        />
        <TagsField
          tags={draft.tags}
          error={errors.tagIds ?? findFieldError(errors, 'tagNames')}
          onChange={(tags) => onChange({ tags })}
        />
        <Toggle
          label="Track conversions"
          hint="Adds the click ID (tp_cid) to the destination, so a form sent later counts for this link."
          checked={draft.trackConversions}
          onChange={({ target }) => onChange({ trackConversions: target.checked })}
        />
      </div>
      <UtmFields {...props} />
      <RuleFields {...props} />
      <TargetingFields {...props} />
      <SplitFields {...props} />
      <LimitFields {...props} summary={describeLimits(draft)} />
      <RedirectFields {...props} />
      <CardFields {...props} />
      <MoreSection {...props} />
      <CollapsibleSection title="QR code" onOpenChange={setQrOpen}>
        {isQrOpen && (
          <QrCodePanel slug={draft.slug.trim() || link?.slug || ''} domain={draft.domain || undefined} />
        )}
      </CollapsibleSection>
    </div>
  )
}

function MoreSection({ draft, errors, onChange }: LinkFieldsProps) {
  const summary = [draft.comments !== '' && t('comments'), draft.externalId].filter(Boolean).join(', ')
  return (
    <CollapsibleSection
      title="Comments and external ID"
      summary={summary}
      hasError={Boolean(errors.comments ?? errors.externalId)}
    >
      <TextareaField
        label="Comments"
        error={errors.comments}
        maxLength={5000}
        value={draft.comments}
        onChange={({ target }) => onChange({ comments: target.value })}
      />
      <TextField
        label="External ID"
        hint="The ID of this link in your own system. The API can find the link by it."
        autoComplete="off"
        maxLength={255}
        value={draft.externalId}
        error={errors.externalId}
        onChange={({ target }) => onChange({ externalId: target.value })}
      />
    </CollapsibleSection>
  )
}
