// The analytics of the whole workspace.

import { Scale } from 'lucide-react'
import { ButtonLink } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { AnalyticsPanel } from './analytics-panel.tsx'
import { ViewsMenu } from './saved/views-menu.tsx'

const NO_FIXED_FILTERS = {}

export const AnalyticsPage = () => (
  <Page
    title="Analytics"
    actions={
      <>
        <ViewsMenu />
        <ButtonLink
          variant="quiet"
          from="/$workspaceId/analytics"
          to="/$workspaceId/analytics/compare"
          search={{}}
          icon={<Scale size={16} />}
        >
          Compare with another tool
        </ButtonLink>
      </>
    }
  >
    <AnalyticsPanel fixed={NO_FIXED_FILTERS} />
  </Page>
)
