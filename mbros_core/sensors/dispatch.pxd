"""The one switch over sensor kinds."""
from mbros_core.devices.stream cimport Stream
from mbros_core.sensors.encoder cimport encoder_read
from mbros_core.sensors.imu cimport imu_read
from mbros_core.sensors.sensor cimport Truth
from mbros_core.sensors.torque cimport torque_read

# The numbers of mbros_core.sensors.registry, which is compared with it when the devices are imported.
cdef enum SensorKind:
    ENCODER = 0
    TORQUE = 1
    IMU = 2


cdef inline dict sensor_kinds():
    return dict(encoder=ENCODER, torque=TORQUE, imu=IMU)


cdef inline void read(int kind, const double* par, double* mem, const Stream* s, double period, const Truth* truth,
                      double* out) noexcept nogil:
    if kind == IMU:
        imu_read(par, mem, s, period, truth, out)
    elif kind == TORQUE:
        torque_read(par, mem, s, period, truth, out)
    else:
        encoder_read(par, mem, period, truth, out)
