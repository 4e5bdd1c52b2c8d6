"""Monitoring on loopback: time series with filters, alignment and reduction; policies and channels, kept."""

from localcloud.monitoring.service import MonitoringService

__all__ = ["MonitoringService"]
