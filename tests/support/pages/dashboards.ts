import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

// The dashboards and alert rules that ship in deploy/.

export interface Query {
  /** Where it is. */
  place: string;
  expression: string;
}

const dashboards = 'deploy/grafana';
export const alertRules = 'deploy/prometheus/rules.yml';
export const alertTests = 'deploy/prometheus/rules.test.yml';

export function dashboardQueries(): Query[] {
  return readdirSync(dashboards).flatMap((file) => {
    const { title, panels } = JSON.parse(readFileSync(`${dashboards}/${file}`, 'utf8')) as Dashboard;
    return panels.flatMap((panel) =>
      panel.targets.map(({ expr }) => ({ place: `${title}: ${panel.title}`, expression: expr })),
    );
  });
}

export function readAlerts(): (Query & { name: string; summary: string })[] {
  const { groups } = parse(readFileSync(alertRules, 'utf8')) as RuleFile;
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, annotations }) => ({
      ...{ place: alert, name: alert, expression: expr, summary: annotations.summary },
    })),
  );
}

/** The metrics in an expression, without the suffixes of a histogram. */
export function metricsIn({ expression }: Query): string[] {
  const names = expression.match(/\b(?:signpost|nodejs|process)_[a-z0-9_]+/g) ?? [];
  return names.map((name) => name.replace(/_seconds_(bucket|count|sum)$/, '_seconds'));
}

interface Dashboard {
  title: string;
  panels: { title: string; targets: { expr: string }[] }[];
}

interface RuleFile {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
}
