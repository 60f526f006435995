"""The one switch over sensor kinds."""
from mbros_core.plant.stream cimport Stream
from mbros_core.plant.sensors.contact_switch cimport contact_switch_read
from mbros_core.plant.sensors.encoder cimport encoder_read
from mbros_core.plant.sensors.force_torque cimport force_torque_follows, force_torque_read, force_torque_see
from mbros_core.plant.sensors.imu cimport imu_read
from mbros_core.plant.sensors.odometry cimport odometry_read
from mbros_core.plant.sensors.pose cimport pose_read
from mbros_core.plant.sensors.sensor cimport Truth
from mbros_core.plant.sensors.torque cimport torque_read

# The numbers of mbros_core.plant.sensors.registry, which is compared with it when the devices are imported.
cdef enum SensorKind:
    ENCODER = 0
    TORQUE = 1
    IMU = 2
    FORCE_TORQUE = 3
    CONTACT_SWITCH = 4
    ODOMETRY = 5
    POSE = 6

cdef enum Sight:            # what a kind sees, which the tick finds for it: plant/truth.pxd
    A_JOINT = 0
    A_FRAME = 1
    A_WRENCH = 2
    CONTACTS = 3


cdef inline dict sensor_kinds():
    return dict(encoder=ENCODER, torque=TORQUE, imu=IMU, force_torque=FORCE_TORQUE, contact_switch=CONTACT_SWITCH, odometry=ODOMETRY,
                pose=POSE)


cdef inline int sight(int kind) noexcept nogil:
    if kind == IMU or kind == POSE:
        return A_FRAME
    if kind == FORCE_TORQUE:
        return A_WRENCH
    return CONTACTS if kind == CONTACT_SWITCH else A_JOINT


cdef inline bint accelerates(int kind) noexcept nogil:
    """Whether it sees accelerations."""
    return kind == IMU


cdef inline bint follows(int kind, const double* par) noexcept nogil:
    """Whether it is to see every step, those without a sample too."""
    return kind == FORCE_TORQUE and force_torque_follows(par)


cdef inline void see(int kind, const double* par, double* mem, double h, double tick, double reach, Truth* truth) noexcept nogil:
    """Step `tick`, of h; before the sample, where there is one."""
    if kind == FORCE_TORQUE:
        force_torque_see(par, mem, h, tick, reach, truth)


cdef inline void read(int kind, const double* par, double* mem, const Stream* s, double period, double elapsed, const Truth* truth,
                      double* out) noexcept nogil:
    """One sample. period: 1 / rate, of which noise is; elapsed: the true time since the last sample, by which differences are divided."""
    if kind == IMU:
        imu_read(par, mem, s, period, truth, out)
    elif kind == TORQUE:
        torque_read(par, mem, s, period, truth, out)
    elif kind == FORCE_TORQUE:
        force_torque_read(par, mem, s, period, truth, out)
    elif kind == CONTACT_SWITCH:
        contact_switch_read(par, mem, truth, out)
    elif kind == ODOMETRY:
        odometry_read(par, mem, elapsed, truth, out)
    elif kind == POSE:
        pose_read(mem, truth, out)
    else:
        encoder_read(par, mem, elapsed, truth, out)
