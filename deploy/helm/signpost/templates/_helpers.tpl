{{- define "signpost.labels" -}}
app.kubernetes.io/name: signpost
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "signpost.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The user of every pod. */}}
{{- define "signpost.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "signpost.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The keys of the Secret for one role; takes a dictionary with root and secrets. */}}
{{- define "signpost.secrets" -}}
{{- range .secrets }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: { name: {{ $.root.Values.secretName }}, key: {{ . }} }
{{- end }}
{{- end }}

{{/* Annotations of a pod. The checksum restarts the pods at the next upgrade after one of their secrets changed. */}}
{{- define "signpost.podAnnotations" -}}
{{- $data := (lookup "v1" "Secret" .root.Release.Namespace .root.Values.secretName).data | default dict }}
{{- $own := dict }}
{{- range .secrets }}
{{- $_ := set $own . (get $data .) }}
{{- end }}
checksum/secrets: {{ $own | toJson | sha256sum }}
{{- with .root.Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Settings of all roles, then of one; takes a dictionary with root and settings. */}}
{{- define "signpost.environment" -}}
{{- range $name, $value := merge (dict) .settings .root.Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* A process is alive while it answers, and ready while its database does. */}}
{{- define "signpost.probes" -}}
startupProbe:
  httpGet: { path: /health, port: operations }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health, port: operations }
  periodSeconds: 15
  timeoutSeconds: 5
  failureThreshold: 4
readinessProbe:
  httpGet: { path: /ready, port: operations }
  periodSeconds: 5
  timeoutSeconds: 6
  failureThreshold: 2
{{- end }}

{{- define "signpost.port" -}}
{{ get (dict "catalog" 4002 "discovery" 4003 "publisher" 4004 "console" 4000) . }}
{{- end }}
